package io.rdma4j.testkit;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A reliable connection between two hosts of a {@link TestNetwork}, with both ends in this process: what a test of code that uses a
 * connection begins with. Thread safe, except for {@link ConnectedEnd#verbs}.
 *
 * {@snippet :
 * try (ConnectedPair pair = ConnectedPair.connect(client, server)) {
 *     pair.client().memory().setString(0, "hello");
 *     pair.client().verbs().write(pair.client().region(), pair.server().remote());
 * }
 * }
 */
public final class ConnectedPair implements AutoCloseable {
    /** The default size of the memory of each end, in bytes. */
    public static final int DEFAULT_MEMORY_BYTES = 64 << 10;

    /** The work requests that each queue of the queue pairs holds. */
    public static final int WORK_REQUESTS = 64;

    private static final int RANGES = 4;
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final CmQueuePairAttributes QUEUES =
            CmQueuePairAttributes.of(new QueuePairCapabilities(WORK_REQUESTS, WORK_REQUESTS, RANGES, RANGES, 0));

    private final ConnectedEnd client;
    private final ConnectedEnd server;

    private ConnectedPair(ConnectedEnd client, ConnectedEnd server) {
        this.client = client;
        this.server = server;
    }

    /** Connects two hosts; each end has {@value #DEFAULT_MEMORY_BYTES} bytes of registered memory. */
    public static ConnectedPair connect(TestHost client, TestHost server) {
        return connect(client, server, DEFAULT_MEMORY_BYTES);
    }

    /**
     * Connects two hosts by the connection manager. All steps are taken by the calling thread, so this works in virtual time too.
     *
     * @param client the host that requests the connection
     * @param server the host that accepts it, which may be the same
     * @param memoryBytes the size of the registered memory of each end
     * @throws IllegalArgumentException if the size is not positive
     * @throws IllegalStateException if a step fails, for example because the network loses all packets; the message has the event
     */
    public static ConnectedPair connect(TestHost client, TestHost server, long memoryBytes) {
        if (memoryBytes <= 0) {
            throw new IllegalArgumentException(memoryBytes + " bytes of memory are not possible: use at least 1");
        }
        EventChannel active = client.connectionManager().openEventChannel();
        EventChannel passive = server.connectionManager().openEventChannel();
        List<CmId> ids = new ArrayList<>();
        boolean done = false;
        try (CmId listener = passive.createId(PortSpace.TCP)) {
            connect(active, passive, listener, server, ids);
            ConnectedPair pair = new ConnectedPair(
                    new ConnectedEnd(client, active, ids.getFirst(), memoryBytes),
                    new ConnectedEnd(server, passive, ids.getLast(), memoryBytes));
            done = true;
            return pair;
        } finally {
            if (!done) {
                ids.forEach(CmId::close);
                active.close();
                passive.close();
            }
        }
    }

    /** Connects an identifier of one channel to the listener of the other, and adds both ends to a list. */
    private static void connect(
            EventChannel active, EventChannel passive, CmId listener, TestHost server, List<CmId> ids) {
        listener.bindAddress(new InetSocketAddress(server.address(), 0));
        listener.listen(1);
        CmId id = active.createId(PortSpace.TCP);
        ids.add(id);
        id.resolveAddress(new InetSocketAddress(server.address(), listener.sourcePort()), TIMEOUT);
        expect(active, CmEvent.Type.ADDRESS_RESOLVED);
        id.resolveRoute(TIMEOUT);
        expect(active, CmEvent.Type.ROUTE_RESOLVED);
        id.createQueuePair(QUEUES);
        id.connect(ConnectionParameters.defaults());
        CmId accepted = expect(passive, CmEvent.Type.CONNECT_REQUEST);
        ids.add(accepted);
        accepted.createQueuePair(QUEUES);
        accepted.accept(ConnectionParameters.defaults());
        expect(active, CmEvent.Type.ESTABLISHED);
        expect(passive, CmEvent.Type.ESTABLISHED);
    }

    private static CmId expect(EventChannel events, CmEvent.Type type) {
        try (CmEvent event = events.await(TIMEOUT)) {
            if (event == null) {
                throw new IllegalStateException("connect: no event within " + TIMEOUT + " in place of " + type);
            }
            if (event.type() != type) {
                throw new IllegalStateException(
                        "connect: " + event + " in place of " + type + " " + event.explanation());
            }
            return event.id();
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
