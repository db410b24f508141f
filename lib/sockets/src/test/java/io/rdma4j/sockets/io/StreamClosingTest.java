package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.sockets.stream.BufferLimits;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.wire.rsocket.ControlWord;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections to a scripted peer, which accepts no data, or sends too much. */
@Timeout(60)
class StreamClosingTest {
    private static final int PEERS = 12;

    /** Connections of fixed sizes grant an initial credit of 384 messages. */
    private final StreamEndpoint listener =
            new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT.withLimits(BufferLimits.FIXED));

    private final InetAddress address = RawStreamPeer.loopback();
    private final List<RawStreamPeer> peers = new ArrayList<>();

    @BeforeEach
    void listen() throws IOException {
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(100);
    }

    @AfterEach
    void close() {
        peers.forEach(RawStreamPeer::close);
        listener.close();
    }

    private void connect() {
        peers.add(RawStreamPeer.connected(address, Objects.requireNonNull(listener.localAddress())));
    }

    private StreamEndpoint accept() throws IOException {
        StreamEndpoint accepted = listener.accept();
        while (accepted == null) {
            assertThat(listener.await(Readiness.IN, System.nanoTime() + 20_000_000_000L))
                    .isNotZero();
            accepted = listener.accept();
        }
        return accepted;
    }

    @Test
    void peerThatAcceptsNothingIsDisconnectedAfterTheTimeout() throws IOException {
        connect();
        StreamEndpoint accepted = accept();
        accepted.close(true, 1_000_000, 200_000_000);
        peers.getFirst().await(CmEvent.Type.DISCONNECTED);
    }

    @Test
    void closingAListenerWaitsForAllItsConnectionsConcurrently() throws Exception {
        for (int i = 0; i < PEERS; i++) {
            connect();
        }
        long begin = System.nanoTime();
        listener.close();
        assertThat(System.nanoTime() - begin)
                .as("nanoseconds; one after the other they would take 1 s each")
                .isLessThan(PEERS * 500_000_000L);
    }

    @Test
    void disconnectWithoutEndOfStreamIsAReset() throws IOException {
        connect();
        StreamEndpoint accepted = accept();
        peers.getFirst().disconnect();
        assertThat(accepted.await(Readiness.IN, System.nanoTime() + 20_000_000_000L))
                .isNotZero();
        assertThatThrownBy(() -> accepted.read(ByteBuffer.allocate(1))).hasMessageStartingWith("Connection reset");
    }

    /** The queue pair fails, and neither a send nor the connection manager reports that. */
    @Test
    void aMessageThatIsTooLongForAReceiveIsAReset() throws IOException {
        peers.add(RawStreamPeer.receiving(address, Objects.requireNonNull(listener.localAddress())));
        StreamEndpoint accepted = accept();
        assertThat(accepted.read(ByteBuffer.allocate(1))).isZero();
        assertThat(peers.getFirst().send()).isNotEqualTo(CompletionStatus.SUCCESS);
        assertThat(accepted.await(Readiness.IN, System.nanoTime() + 5_000_000_000L))
                .isNotZero();
        assertThatThrownBy(() -> accepted.read(ByteBuffer.allocate(1))).hasMessageStartingWith("Connection reset");
        accepted.close();
    }

    /** Like the test above, but after data, which can be read. */
    @Test
    void dataBeforeAFailureOfTheQueuePairCanBeRead() throws IOException {
        peers.add(RawStreamPeer.receiving(address, Objects.requireNonNull(listener.localAddress())));
        StreamEndpoint accepted = accept();
        peers.getFirst().sendControlWord(ControlWord.of(ControlWord.DATA, 3), 1);
        assertThat(peers.getFirst().send()).isNotEqualTo(CompletionStatus.SUCCESS);
        assertThat(accepted.await(Readiness.IN, System.nanoTime() + 5_000_000_000L))
                .isNotZero();
        assertThat(accepted.read(ByteBuffer.allocate(8))).isEqualTo(3);
        assertThat(accepted.await(Readiness.IN, System.nanoTime() + 5_000_000_000L))
                .isNotZero();
        assertThatThrownBy(() -> accepted.read(ByteBuffer.allocate(1))).hasMessageStartingWith("Connection reset");
        accepted.close();
    }

    @Test
    void anInterruptedThreadClosesAConnectionCompletely() throws Exception {
        peers.add(RawStreamPeer.receiving(address, Objects.requireNonNull(listener.localAddress())));
        StreamEndpoint accepted = accept();
        var _ = accepted.readinessToWait();
        peers.getFirst().sendControlWord(ControlWord.of(ControlWord.DATA, 1), 1);
        FutureTask<Boolean> closing = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            accepted.close(0);
            return Thread.interrupted();
        });
        Thread.ofPlatform().start(closing);
        assertThat(closing.get(20, TimeUnit.SECONDS)).as("interrupted").isTrue();
        assertThat(accepted.stream()).as("the stream with its memory").isNull();
    }

    @Test
    void oneCallHandlesABoundedNumberOfWords() throws IOException {
        connect();
        StreamEndpoint accepted = accept();
        peers.getFirst().sendControlWord(ControlWord.of(ControlWord.DATA, 1), 300);
        int first = accepted.availableBytes();
        assertThat(first).isBetween(200, 299);
        assertThat(accepted.availableBytes()).isEqualTo(300);
    }

    @Test
    void waiterIsNotifiedOfCompletionsThatOneCheckLeaves() throws Exception {
        connect();
        StreamEndpoint accepted = accept();
        RawStreamPeer peer = peers.getFirst();
        peer.sendControlWord(ControlWord.of(ControlWord.CREDIT, 400), 299);
        peer.sendControlWord(ControlWord.of(ControlWord.DATA, 1), 1);
        assertThat(accepted.await(Readiness.IN, System.nanoTime() + 20_000_000_000L))
                .isEqualTo(Readiness.IN);
    }
}
