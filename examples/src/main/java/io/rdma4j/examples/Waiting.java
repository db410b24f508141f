package io.rdma4j.examples;

import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Listener;
import io.rdma4j.Message;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The ways in which a wait ends: a message, a timeout, an interrupt, a disconnect, or a close by another thread. */
public final class Waiting {
    private static final int MESSAGE_BYTES = 64;

    private Waiting() {}

    /** Runs the server in a thread, runs two clients one after the other, and stops the server. */
    public static void main(String[] arguments) throws InterruptedException {
        Listener listener = Listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread server = Thread.startVirtualThread(() -> serve(listener));
        try (listener) {
            for (String text : new String[] {"first", "second"}) {
                ask(listener.address(), text);
            }
        }
        server.join();
    }

    // tag::closing[]
    /** Answers one client after the other, until another thread closes the listener. */
    private static void serve(Listener listener) {
        for (ConnectionRequest request : listener) {
            try (Connection client = request.messages(1, MESSAGE_BYTES).accept()) {
                for (Message message : client.messages()) { // until the client has disconnected
                    try (message) {
                        System.out.println("server: " + message.memory().getString(0));
                        client.send(message.buffer());
                    }
                }
            }
        }
        System.out.println("server: ends");
    }
    // end::closing[]

    private static void ask(InetSocketAddress address, String text) throws InterruptedException {
        try (Connection server =
                        Connection.to(address).messages(1, MESSAGE_BYTES).connect();
                Buffer message = server.allocate(MESSAGE_BYTES)) {
            Thread waiting = Thread.startVirtualThread(() -> await(server));
            waiting.join(Duration.ofMillis(250));
            waiting.interrupt();
            waiting.join();
            message.memory().setString(0, text);
            server.send(message);
            server.receive().close();
        }
    }

    // tag::receive[]
    /** Waits for a message that nobody sends. After a timeout and an interrupt the connection can be used. */
    private static void await(Connection server) {
        while (true) {
            try (Message message = server.receive(Duration.ofMillis(100))) {
                System.out.println("client: " + message.memory().getString(0));
            } catch (RdmaTimeoutException nothing) {
                System.out.println("client: still waiting");
            } catch (InterruptedRdmaException interrupt) {
                return;
            }
        }
    }
    // end::receive[]
}
