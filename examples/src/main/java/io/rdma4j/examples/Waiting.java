package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/** The ways to wait for a completion, and a server that ends when another thread closes its listener. */
public final class Waiting {
    private static final int MESSAGE_BYTES = 64;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private Waiting() {}

    /** Runs the server in a thread, and two clients one after the other, and ends the server. */
    public static void main(String[] arguments) throws InterruptedException {
        CmId listener = CmId.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CmQueuePairAttributes.defaults());
        Thread server = Thread.ofPlatform().start(() -> serve(listener));
        for (String text : new String[] {"first", "second"}) {
            send(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()), text);
        }
        listener.close();
        server.join();
    }

    // tag::closing[]
    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared()) {
            while (true) {
                try (CmId connection = listener.getRequest();
                        MemoryRegion message = new CmVerbs(connection).register(arena.allocate(MESSAGE_BYTES))) {
                    new CmVerbs(connection).postReceive(1, message, 0, MESSAGE_BYTES);
                    connection.accept();
                    if (await(Objects.requireNonNull(connection.receiveCompletions()), new WorkCompletion[1])) {
                        System.out.println("server: " + message.memory().getString(0));
                    }
                }
            }
        } catch (ClosedException e) {
            System.out.println("server: ends"); // another thread has closed the listener
        }
    }
    // end::closing[]

    // tag::blocking[]
    /** Returns true with the next completion in {@code next}, or false if none came in time. */
    private static boolean await(CompletionQueue queue, WorkCompletion[] next) {
        CompletionChannel channel = Objects.requireNonNull(queue.channel());
        next[0] = new WorkCompletion();
        while (queue.poll(next) == 0) {
            queue.requestNotification(false);
            if (queue.poll(next) > 0) {
                return true; // it came before the request, which therefore does not report it
            }
            CompletionQueue reported = channel.await(PATIENCE);
            if (reported == null) {
                return false;
            }
            reported.acknowledgeEvents(1);
        }
        return true;
    }
    // end::blocking[]

    // tag::polling[]
    private static void spin(CompletionQueue queue, WorkCompletion[] completions) {
        while (queue.poll(completions) == 0) {
            Thread.onSpinWait(); // each poll also receives, sends and checks timers
        }
    }
    // end::polling[]

    private static void send(InetSocketAddress server, String text) {
        try (Arena arena = Arena.ofShared();
                CmId connection = CmId.connect(server, CmQueuePairAttributes.defaults());
                MemoryRegion message = new CmVerbs(connection).register(arena.allocateFrom(text))) {
            Objects.requireNonNull(connection.queuePair())
                    .postSend(SendWorkRequest.send(1, message).signaled());
            WorkCompletion[] sent = WorkCompletion.array(1);
            spin(Objects.requireNonNull(connection.sendCompletions()), sent);
            System.out.println("client: " + sent[0].status());
        }
    }
}
