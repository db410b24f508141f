package io.rdma4j.examples;

import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Listener;
import io.rdma4j.Message;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A server that answers messages of clients, which may disconnect or fail, with a virtual thread for each client. */
public final class RequestResponse {
    private static final int CLIENTS = 64;
    private static final int REQUESTS = 100;
    private static final int PLACES = 16;

    private RequestResponse() {}

    /**
     * Runs the server, and clients that each request squares of numbers. The arguments are the server's address and the
     * number of clients.
     */
    public static void main(String[] arguments) throws ExecutionException, InterruptedException {
        String address = arguments.length > 0 ? arguments[0] : "127.0.0.1";
        int clients = arguments.length > 1 ? Integer.parseInt(arguments[1]) : CLIENTS;
        try (Listener listener = Listener.bind(new InetSocketAddress(address, 0));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Thread.startVirtualThread(() -> serve(listener));
            List<Future<?>> asking = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                asking.add(threads.submit(() -> ask(listener.address())));
            }
            for (Future<?> each : asking) {
                each.get();
            }
        }
        System.out.println("all clients have their answers");
    }

    // tag::server[]
    /** Accepts clients until the listener is closed. */
    private static void serve(Listener listener) {
        for (ConnectionRequest request : listener) {
            Thread.startVirtualThread(() -> answer(request));
        }
    }

    /** Answers a client until it disconnects, with each answer in the buffer of its request. */
    private static void answer(ConnectionRequest request) {
        try (Connection client = request.messages(PLACES, Long.BYTES).accept()) {
            for (Message message : client.messages()) {
                try (message) {
                    long number = message.memory().get(ValueLayout.JAVA_LONG, 0);
                    message.memory().set(ValueLayout.JAVA_LONG, 0, number * number);
                    client.send(message.buffer());
                }
            }
        } catch (RdmaException failed) {
            System.err.println("server: a client has failed: " + failed.getMessage());
        }
    }
    // end::server[]

    // tag::client[]
    private static void ask(InetSocketAddress address) {
        try (Connection server = Connection.to(address).messages(1, Long.BYTES).connect();
                Buffer request = server.allocate(Long.BYTES)) {
            long sum = 0;
            for (long number = 1; number <= REQUESTS; number++) {
                request.memory().set(ValueLayout.JAVA_LONG, 0, number);
                server.send(request);
                try (Message answer = server.receive()) {
                    sum += answer.memory().get(ValueLayout.JAVA_LONG, 0);
                }
            }
            if (sum != 338_350) {
                throw new IllegalStateException("the sum of the squares is " + sum);
            }
        }
    }
    // end::client[]
}
