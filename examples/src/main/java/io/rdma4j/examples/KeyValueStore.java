package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;

/**
 * A table of numbers in the memory of a server, which clients read and change by READ, WRITE and FETCH_AND_ADD. The thread of
 * the server is not involved.
 */
public final class KeyValueStore {
    private static final int SLOTS = 1024;

    private KeyValueStore() {}

    /** Runs the server, and a client that increments a key. */
    public static void main(String[] arguments) throws InterruptedException {
        try (CmId listener = CmId.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CmQueuePairAttributes.defaults())) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            try (Client client =
                    new Client(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()))) {
                client.put(7, 40);
                client.add(7, 1);
                client.add(7, 1);
                System.out.println("client: key 7 has the value " + client.get(7));
            }
            server.join();
        }
    }

    // tag::table[]
    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion table = connection
                        .protectionDomain()
                        .register(
                                arena.allocate(SLOTS * ValueLayout.JAVA_LONG.byteSize(), Long.BYTES),
                                AccessFlag.LOCAL_WRITE,
                                AccessFlag.REMOTE_READ,
                                AccessFlag.REMOTE_WRITE,
                                AccessFlag.REMOTE_ATOMIC)) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(table.remote().encode()));
            connection.awaitDisconnect();
            System.out.println("server: a client has left");
        }
    }
    // end::table[]

    /** A client of the table, for one thread. */
    private static final class Client implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final CmId connection;
        private final CmVerbs verbs;
        private final RemoteMemory table;
        private final MemorySegment value = arena.allocate(ValueLayout.JAVA_LONG);
        private final MemoryRegion region;

        Client(InetSocketAddress server) {
            connection = CmId.connect(server, CmQueuePairAttributes.defaults());
            verbs = new CmVerbs(connection);
            table = RemoteMemory.decode(connection.peerPrivateData());
            region = verbs.register(value);
        }

        private static RemoteMemory slot(RemoteMemory table, int key) {
            return table.slice((long) key * Long.BYTES, Long.BYTES);
        }

        long get(int key) {
            verbs.read(region, slot(table, key));
            return value.get(ValueLayout.JAVA_LONG, 0);
        }

        void put(int key, long number) {
            value.set(ValueLayout.JAVA_LONG, 0, number);
            verbs.write(region, slot(table, key));
        }

        /** Adds a number, and returns the previous value. */
        long add(int key, long summand) {
            Objects.requireNonNull(connection.queuePair())
                    .postSend(SendWorkRequest.fetchAndAdd(0, region, slot(table, key), summand)
                            .signaled());
            verbs.awaitSendCompletion();
            return value.get(ValueLayout.JAVA_LONG, 0);
        }

        @Override
        public void close() {
            connection.disconnect();
            region.close();
            connection.close();
            arena.close();
        }
    }
}
