package io.rdma4j.testkit;

import io.rdma4j.Connecting;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.Listener;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A reliable connection between two hosts of a {@link TestNetwork}, with both ends in this process: the starting point
 * for a test of code that uses a connection. Thread safe.
 *
 * {@snippet :
 * try (ConnectedPair pair = ConnectedPair.connect(client, server)) {
 *     pair.client().memory().setString(0, "hello");
 *     pair.client().connection().write(pair.client().buffer(), pair.server().remote());
 * }
 * }
 */
public final class ConnectedPair implements AutoCloseable {
    /** The default size of the memory of each end, in bytes. */
    public static final int DEFAULT_MEMORY_BYTES = 64 << 10;

    /**
     * The maximum number of operations that each end has in flight, and of messages that it can receive before the
     * program takes one.
     */
    public static final int QUEUE_LENGTH = 64;

    /** The maximum length of a message, in bytes. */
    public static final int MESSAGE_BYTES = 4096;

    /** The timeout for closing. A test with a network that loses all packets waits for this time. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(100);

    private static final ConnectionOptions OPTIONS = ConnectionOptions.defaults()
            .withSends(QUEUE_LENGTH)
            .withMessages(QUEUE_LENGTH, MESSAGE_BYTES)
            .withTimeout(Duration.ofMinutes(1))
            .withCloseTimeout(CLOSE_TIMEOUT);

    private final ConnectedEnd client;
    private final ConnectedEnd server;

    private ConnectedPair(ConnectedEnd client, ConnectedEnd server) {
        this.client = client;
        this.server = server;
    }

    /** Connects two hosts; each end has {@value #DEFAULT_MEMORY_BYTES} bytes of memory. */
    public static ConnectedPair connect(TestHost client, TestHost server) {
        return connect(client, server, DEFAULT_MEMORY_BYTES);
    }

    /**
     * Connects two hosts by the connection manager. The calling thread performs all steps, so this also works in
     * virtual time.
     *
     * @param client the host that requests the connection
     * @param server the host that accepts it, which may be the same
     * @param memoryBytes the size of the memory of each end
     * @throws IllegalArgumentException if the size is not positive
     * @throws io.rdma4j.verbs.RdmaException if a step fails, for example because the network loses all packets
     */
    public static ConnectedPair connect(TestHost client, TestHost server, long memoryBytes) {
        if (memoryBytes <= 0) {
            throw new IllegalArgumentException(memoryBytes + " bytes of memory are not possible: use at least 1");
        }
        InetSocketAddress anyPort = new InetSocketAddress(server.address(), 0);
        try (Listener listener = Listener.bind(server.connectionManager(), anyPort);
                Connecting requested = Connection.to(listener.address())
                        .over(client.connectionManager())
                        .options(OPTIONS)
                        .start();
                Connecting accepted =
                        listener.accept(OPTIONS.timeout()).options(OPTIONS).start()) {
            Connection atClient = requested.await();
            try {
                return new ConnectedPair(
                        new ConnectedEnd(client, atClient, memoryBytes),
                        new ConnectedEnd(server, accepted.await(), memoryBytes));
            } catch (RuntimeException | Error failed) {
                atClient.close();
                throw failed;
            }
        }
    }

    /** Returns the end that requested the connection. */
    public ConnectedEnd client() {
        return client;
    }

    /** Returns the end that accepted the connection. */
    public ConnectedEnd server() {
        return server;
    }

    /** Closes both ends; closing again has no effect. */
    @Override
    public void close() {
        client.close();
        server.close();
    }
}
