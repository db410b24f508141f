package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A server that answers the requests of several clients with one thread. All connections share a receive queue and a completion
 * queue. The server's thread waits at the completion channel; the clients poll.
 */
public final class SharedReceives {
    private static final int CLIENTS = 4;
    private static final int REQUESTS = 100;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private SharedReceives() {}

    /** Runs the server, and clients that each request squares of numbers. */
    public static void main(String[] arguments) throws InterruptedException {
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.listen(CLIENTS);
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort());
            List<Thread> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(Thread.ofPlatform().start(() -> ask(address)));
            }
            try (Server server = new Server(listener)) {
                System.out.println("server: answered " + server.serve() + " requests of " + CLIENTS + " clients");
            }
            for (Thread client : clients) {
                client.join();
            }
        }
    }

    private static void ask(InetSocketAddress server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = CmId.create(PortSpace.TCP)) {
            connection.resolveAddress(server, TIMEOUT);
            connection.resolveRoute(TIMEOUT);
            QueuePair queuePair = connection.createQueuePair(QueuePairInitAttributes.defaults());
            ProtectionDomain domain = connection.protectionDomain();
            MemorySegment memory = arena.allocate(2 * Long.BYTES);
            long sum = 0;
            try (MemoryRegion numbers = domain.register(memory, AccessFlag.LOCAL_WRITE)) {
                connection.connect();
                WorkCompletion[] completion = WorkCompletion.array(1);
                for (long number = 1; number <= REQUESTS; number++) {
                    memory.set(ValueLayout.JAVA_LONG, 0, number);
                    queuePair.postReceive(new ReceiveWorkRequest().reset(number).into(numbers, Long.BYTES, Long.BYTES));
                    queuePair.postSend(
                            SendWorkRequest.send(number, numbers, 0, Long.BYTES).signaled());
                    spin(queuePair.sendCompletions(), completion);
                    spin(queuePair.receiveCompletions(), completion);
                    sum += memory.get(ValueLayout.JAVA_LONG, Long.BYTES);
                }
                connection.disconnect();
            }
            System.out.println("client: the sum of the squares is " + sum);
        }
    }

    // tag::polling[]
    private static void spin(CompletionQueue queue, WorkCompletion[] completion) {
        while (queue.poll(completion) == 0) {
            Thread.onSpinWait(); // each poll also receives, sends and checks timers
        }
        requireSuccess(completion[0]);
    }
    // end::polling[]

    private static void requireSuccess(WorkCompletion completion) {
        if (!completion.isSuccess()) {
            throw new IllegalStateException(completion.toString());
        }
    }

    /** The server, for one thread. A slot of its memory holds a request, then the response, and then receives again. */
    private static final class Server implements AutoCloseable {
        private static final int SLOTS = 16;

        private final Arena arena = Arena.ofShared();
        private final CompletionChannel channel;
        private final CompletionQueue completions;
        private final SharedReceiveQueue receives;
        private final MemoryRegion slots;
        private final Map<Integer, CmId> connections = new HashMap<>();
        private final WorkCompletion[] completion = WorkCompletion.array(1);

        Server(CmId listener) {
            channel = listener.verbs().createCompletionChannel();
            completions = listener.verbs().createCompletionQueue(2 * SLOTS, channel);
            receives =
                    listener.protectionDomain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(SLOTS, 1));
            slots = listener.protectionDomain().register(arena.allocate(SLOTS * Long.BYTES), AccessFlag.LOCAL_WRITE);
            for (int slot = 0; slot < SLOTS; slot++) {
                receive(slot);
            }
            while (connections.size() < CLIENTS) {
                CmId connection = listener.getRequest();
                QueuePair queuePair = connection.createQueuePair(QueuePairInitAttributes.defaults()
                        .withCompletions(completions)
                        .withSharedReceiveQueue(receives));
                connections.put(queuePair.number(), connection);
                connection.accept(ConnectionParameters.defaults());
            }
        }

        /** Serves all requests of all clients, and returns their number. */
        int serve() {
            int answered = 0;
            while (answered < CLIENTS * REQUESTS) {
                WorkCompletion next = awaitCompletion();
                if (next.opcode() == CompletionOpcode.RECEIVE) {
                    answer(next.queuePairNumber(), next.id());
                } else {
                    receive(next.id());
                    answered++;
                }
            }
            return answered;
        }

        // tag::blocking[]
        private WorkCompletion awaitCompletion() {
            while (completions.poll(completion) == 0) {
                completions.requestNotification(false);
                if (completions.poll(completion) > 0) {
                    break; // it arrived before the request, which therefore does not report it
                }
                channel.await().acknowledgeEvents(1);
            }
            requireSuccess(completion[0]);
            return completion[0];
        }
        // end::blocking[]

        private void answer(int queuePairNumber, long slot) {
            long number = slots.memory().getAtIndex(ValueLayout.JAVA_LONG, slot);
            slots.memory().setAtIndex(ValueLayout.JAVA_LONG, slot, number * number);
            CmId connection = Objects.requireNonNull(connections.get(queuePairNumber));
            Objects.requireNonNull(connection.queuePair())
                    .postSend(SendWorkRequest.send(slot, slots, slot * Long.BYTES, Long.BYTES)
                            .signaled());
        }

        private void receive(long slot) {
            receives.postReceive(new ReceiveWorkRequest().reset(slot).into(slots, slot * Long.BYTES, Long.BYTES));
        }

        @Override
        public void close() {
            connections.values().forEach(CmId::close);
            receives.close();
            completions.close();
            channel.close();
            slots.close();
            arena.close();
        }
    }
}
