package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A listener with requests from senders that never confirm its reply. */
@Timeout(60)
class StreamListenerTest {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private final StreamEndpoint listener = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
    private final StreamEndpoint client = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
    private final List<RawStreamPeer> peers = new ArrayList<>();

    @AfterEach
    void close() {
        client.close();
        listener.close();
        peers.forEach(RawStreamPeer::close);
    }

    private void listen(int backlog) throws IOException {
        listener.bind(new InetSocketAddress(RawStreamPeer.loopback(), 0));
        listener.listen(backlog);
    }

    private InetSocketAddress address() {
        return Objects.requireNonNull(listener.localAddress());
    }

    private void unconfirmed(InetAddress source, int count) {
        for (int i = 0; i < count; i++) {
            peers.add(RawStreamPeer.unconfirmed(source, address()));
        }
    }

    private boolean connects() throws IOException {
        client.bind(new InetSocketAddress(RawStreamPeer.loopback(), 0));
        client.startConnect(address());
        client.await(Readiness.OUT, System.nanoTime() + PATIENCE_NANOS);
        return client.finishConnect();
    }

    @Test
    void unconfirmedRequestsDoNotCountTowardTheBacklog() throws IOException {
        listen(3);
        unconfirmed(RawStreamPeer.loopback(), 12);
        assertThat(connects()).isTrue();
    }

    @Test
    void withdrawnRequestCanBeRejected() throws Exception {
        CompletableFuture<CmId> request = new CompletableFuture<>();
        CompletableFuture<CmEvent.Type> end = new CompletableFuture<>();
        CmId raw = ConnectionService.ofProcess().createId(event -> {
            ConnectionService.Target onEnd = later -> end.complete(later.type());
            event.id().setContext(onEnd);
            request.complete(event.id());
        });
        try {
            raw.bindAddress(new InetSocketAddress(RawStreamPeer.loopback(), 0));
            raw.listen(1);
            RawStreamPeer peer =
                    RawStreamPeer.unconfirmed(RawStreamPeer.loopback(), Objects.requireNonNull(raw.localAddress()));
            CmId child = request.get(20, TimeUnit.SECONDS);
            peer.close();
            assertThat(end.get(20, TimeUnit.SECONDS)).isEqualTo(CmEvent.Type.REJECTED);
            long before = StreamListener.WITHDRAWN.sum();
            StreamListener.refuse(child);
            assertThat(StreamListener.WITHDRAWN.sum()).isEqualTo(before + 1);
        } finally {
            raw.close();
        }
    }

    @Test
    void unconfirmedRepliesOfOneAddressAreLimited() throws IOException {
        listen(1000);
        unconfirmed(RawStreamPeer.loopback(), 150);
        assertThat(connects()).isTrue(); // after the other requests, so that all of them were handled
        assertThat(peers.stream().filter(RawStreamPeer::isAnswered).count())
                .as("answers, each with memory for a connection")
                .isBetween(1L, 100L);
    }
}
