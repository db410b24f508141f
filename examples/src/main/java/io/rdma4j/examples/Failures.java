package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Connector;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.cm.ConnectionRejectedException;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** Failures of connecting and of operations, and how they are reported. */
public final class Failures {
    private static final int BYTES = 64;

    private Failures() {}

    /** Makes connecting and operations fail, between two hosts in this process. */
    public static void main(String[] arguments) throws InterruptedException {
        try (TestNetwork network = new TestNetwork()) {
            TestHost server = network.addHost("10.0.0.1");
            TestHost client = network.addHost("10.0.0.2");
            InetSocketAddress address = new InetSocketAddress(server.address(), 7471);
            InetSocketAddress nobody = new InetSocketAddress(server.address(), 7472);
            Thread thread;
            try (Listener listener = Listener.bind(server.connectionManager(), address)) {
                thread = Thread.startVirtualThread(() -> serve(listener));
                refused(Connection.to(nobody).over(client.connectionManager()));
                withoutPlace(Connection.to(address).over(client.connectionManager()));
                withoutRight(Connection.to(address).over(client.connectionManager()));
            }
            thread.join();
        }
    }

    // tag::refused[]
    private static void refused(Connector connector) {
        try (Connection connection = connector.connect()) {
            throw new IllegalStateException("connected to " + connection.peer());
        } catch (ConnectionRejectedException e) {
            System.out.println(e.getMessage());
        }
    }
    // end::refused[]

    // tag::server[]
    private static void serve(Listener listener) {
        try (Exposed readable = Exposed.of(Arena.ofAuto().allocate(BYTES), Access.READ)) {
            for (ConnectionRequest request : listener) {
                try (Connection client = request.privateData(readable).accept()) { // without messages(count, bytes)
                    client.awaitEnd();
                }
            }
        }
    }
    // end::server[]

    // tag::place[]
    private static void withoutPlace(Connector connector) {
        try (Connection server = connector.connect();
                Buffer message = server.allocate(BYTES)) {
            server.send(message, Duration.ofMillis(200)); // the server has no place for messages
        } catch (RdmaTimeoutException e) {
            System.out.println(e.getMessage());
        }
    }
    // end::place[]

    // tag::right[]
    private static void withoutRight(Connector connector) {
        try (Connection server = connector.connect();
                Buffer buffer = server.allocate(BYTES)) {
            RemoteMemory readable = server.peer().memory();
            List<Runnable> operations = List.of(
                    () -> server.write(buffer, readable), // only reading is allowed
                    () -> server.read(buffer, readable));
            for (Runnable operation : operations) {
                try {
                    operation.run();
                } catch (RdmaException e) {
                    System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
                }
            }
            System.out.println("the connection is " + (server.isOpen() ? "open" : "ended"));
        }
    }
    // end::right[]
}
