package io.rdma4j.examples;

import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A server that serves many clients with one thread, driven by the events of its channel. The clients use
 * {@link Connection}.
 */
public final class EventServer {
    private static final int CLIENTS = 8;

    private EventServer() {}

    /** Runs the server, and clients that each write a number into separate memory of the server. */
    public static void main(String[] arguments) throws InterruptedException {
        try (EventChannel events = EventChannel.open();
                CmId listener = events.createId(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.listen(CLIENTS);
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort());
            List<Thread> clients = new ArrayList<>();
            for (int i = 1; i <= CLIENTS; i++) {
                int number = i;
                clients.add(Thread.ofPlatform().start(() -> write(address, number)));
            }
            System.out.println("server: the sum of all numbers is " + serve(events));
            for (Thread client : clients) {
                client.join();
            }
        }
    }

    // tag::events[]
    /** Serves until all clients have disconnected, and returns the sum of their numbers. */
    private static int serve(EventChannel events) {
        Map<CmId, MemoryRegion> connections = new HashMap<>();
        int sum = 0;
        int served = 0;
        try (Arena arena = Arena.ofShared()) {
            while (served < CLIENTS) {
                CmEvent event = events.await();
                event.acknowledge(); // its data remain available
                switch (event) {
                    case CmEvent.ConnectRequest request -> connections.put(request.id(), accept(request.id(), arena));
                    case CmEvent.Disconnected end -> {
                        try (CmId id = end.id();
                                MemoryRegion region = Objects.requireNonNull(connections.remove(id))) {
                            sum += region.memory().get(ValueLayout.JAVA_INT, 0);
                            served++;
                        }
                    }
                    default -> {}
                }
            }
        }
        return sum;
    }
    // end::events[]

    private static MemoryRegion accept(CmId connection, Arena arena) {
        connection.createQueuePair(QueuePairInitAttributes.defaults());
        MemoryRegion region = connection
                .protectionDomain()
                .register(arena.allocate(ValueLayout.JAVA_INT), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        connection.accept(
                ConnectionParameters.defaults().withPrivateData(region.remote().encode()));
        return region;
    }

    private static void write(InetSocketAddress address, int number) {
        try (Connection server = Connection.to(address).connect();
                Buffer source = server.allocate(Integer.BYTES)) {
            source.memory().set(ValueLayout.JAVA_INT, 0, number);
            server.write(source, server.peer().memory());
        }
    }
}
