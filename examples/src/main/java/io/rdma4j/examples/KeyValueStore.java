package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;

/**
 * A table of numbers in a server's memory, which clients read and change with READ, WRITE and FETCH_AND_ADD. The server's threads
 * accept clients and wait for their end; the clients' operations do not involve them.
 */
public final class KeyValueStore {
    private static final int SLOTS = 1024;

    private KeyValueStore() {}

    /** Runs the server, and clients that increment the value of one key. */
    public static void main(String[] arguments) {
        try (Exposed table = Exposed.of(
                        Arena.ofAuto().allocate(SLOTS * Long.BYTES, Long.BYTES),
                        Access.READ,
                        Access.WRITE,
                        Access.ATOMIC);
                Listener listener = Listener.bind(new InetSocketAddress(0))) {
            Thread.startVirtualThread(() -> serve(listener, table));
            InetSocketAddress address = new InetSocketAddress(
                    arguments.length > 0 ? arguments[0] : "127.0.0.1",
                    listener.address().getPort());
            try (Client first = new Client(address)) {
                first.put(7, 40);
            }
            try (Client second = new Client(address);
                    Client third = new Client(address)) {
                second.add(7, 1);
                third.add(7, 1);
                System.out.println("client: key 7 has the value " + second.get(7));
            }
        }
    }

    // tag::table[]
    /** Gives each client access to the table, until the listener is closed. */
    private static void serve(Listener listener, Exposed table) {
        for (ConnectionRequest request : listener) {
            Thread.startVirtualThread(() -> serve(request, table));
        }
    }

    /** Waits until a client disconnects or dies. The client's accesses to the table do not need this thread. */
    private static void serve(ConnectionRequest request, Exposed table) {
        try (Connection client = request.privateData(table).accept()) {
            client.awaitEnd();
        } catch (RdmaException failed) {
            System.err.println("server: a client has failed: " + failed.getMessage());
        }
    }
    // end::table[]

    /** A client of the table, for one thread. */
    private static final class Client implements AutoCloseable {
        private final Connection server;
        private final RemoteMemory table;
        private final Buffer value;

        Client(InetSocketAddress address) {
            server = Connection.to(address).connect();
            table = server.peer().memory();
            value = server.allocate(Long.BYTES);
        }

        private RemoteMemory slot(int key) {
            return table.slice((long) key * Long.BYTES, Long.BYTES);
        }

        long get(int key) {
            server.read(value, slot(key));
            return value.memory().get(ValueLayout.JAVA_LONG, 0);
        }

        void put(int key, long number) {
            value.memory().set(ValueLayout.JAVA_LONG, 0, number);
            server.write(value, slot(key));
        }

        /** Adds a number, and returns the previous value. */
        long add(int key, long summand) {
            return server.fetchAndAdd(slot(key), summand);
        }

        @Override
        public void close() {
            server.close();
        }
    }
}
