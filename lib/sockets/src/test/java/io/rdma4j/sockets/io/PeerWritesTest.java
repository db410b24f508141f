package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory that the peer of a stream may write to. */
@Timeout(60)
class PeerWritesTest {
    private final StreamEndpoint listener = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
    private final InetAddress address = RawStreamPeer.loopback();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(8);
    private final Deque<Runnable> closes = new ArrayDeque<>();

    @BeforeEach
    void listen() throws IOException {
        closes.push(arena::close);
        closes.push(listener::close);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(5);
    }

    @AfterEach
    void close() {
        closes.forEach(Runnable::run);
    }

    private RawStreamPeer peer() {
        RawStreamPeer made = RawStreamPeer.connected(address, Objects.requireNonNull(listener.localAddress()));
        closes.push(made::close);
        return made;
    }

    private StreamEndpoint accept() throws IOException {
        assertThat(listener.await(Readiness.IN, System.nanoTime() + TimeUnit.SECONDS.toNanos(20)))
                .isNotZero();
        StreamEndpoint accepted = Objects.requireNonNull(listener.accept());
        closes.push(() -> accepted.close(0));
        return accepted;
    }

    private byte written() {
        return memory.get(ValueLayout.JAVA_BYTE, 0);
    }

    @Test
    void peerWritesOnlyToMemoryOfItsOwnConnection() throws IOException {
        RawStreamPeer stranger = peer();
        StreamEndpoint _ = accept();
        RawStreamPeer owner = peer();
        MemoryRegion region = accept().withResources(resources -> resources.map(memory));
        assertThat(stranger.write(region.address(), region.remoteKey()))
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(written()).isZero();
        assertThat(owner.write(region.address(), region.remoteKey())).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(written()).isEqualTo((byte) 1);
    }

    @Test
    void memoryUnmappedDuringTheCloseIsNoLongerWritten() throws IOException {
        RawStreamPeer peer = peer();
        StreamEndpoint accepted = accept();
        MemoryRegion region = accepted.withResources(resources -> resources.map(memory));
        StreamMapping mapping = new StreamMapping(accepted, region, 0, 0);
        accepted.closeWithoutWaiting(); // stays open, since the peer does not accept the data
        mapping.end();
        assertThat(peer.write(region.address(), region.remoteKey())).isNotEqualTo(CompletionStatus.SUCCESS);
        assertThat(written()).isZero();
    }
}
