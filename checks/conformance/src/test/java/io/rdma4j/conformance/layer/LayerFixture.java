package io.rdma4j.conformance.layer;

import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.Listener;
import io.rdma4j.conformance.device.TestDevices;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A listener at the device under test, and a pair of connections to it. */
final class LayerFixture implements AutoCloseable {
    static final Duration PATIENCE = TestDevices.patience();

    final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    final Listener listener = Listener.bind(new InetSocketAddress(TestDevices.address(), 0));

    /** The two ends of a connection. */
    record Ends(Connection client, Connection server) implements AutoCloseable {
        @Override
        public void close() {
            client.close();
            server.close();
        }
    }

    InetSocketAddress address() {
        return listener.address();
    }

    Ends connect(ConnectionOptions options) {
        CompletableFuture<Connection> accepted = CompletableFuture.supplyAsync(
                () -> listener.accept(PATIENCE).options(options).accept(), threads);
        Connection client = Connection.to(address()).options(options).connect();
        return new Ends(client, accepted.join());
    }

    @Override
    public void close() {
        listener.close();
        threads.shutdownNow();
    }
}
