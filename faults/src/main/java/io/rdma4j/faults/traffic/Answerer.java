package io.rdma4j.faults.traffic;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The passive side of {@link Exchange}s, any number at a time: checks every message and every completion, and answers.
 *
 * <p>Parameters {@code address}, {@code timeout} (exponent), {@code sizes} (lengths of messages, joined by commas),
 * {@code keepAliveMillis} (of each connection; 0 for none); says {@code port}, to the word
 * {@code connections} how many it has, and to {@code icrcErrors} how many packets it has dropped so far because of a wrong
 * ICRC. Ends when told {@code end}.
 */
public final class Answerer implements Role {
    /** Where the readable text begins in the region, behind the places of messages. */
    static final long TEXT_OFFSET = (long) Exchange.SLOTS * MessagePattern.MAX_MESSAGE_BYTES;

    private static final long REGION_BYTES = TEXT_OFFSET + 2L * MessagePattern.MAX_MESSAGE_BYTES;
    private static final Duration LOOK = Duration.ofMillis(200);

    private final MessagePattern pattern = new MessagePattern();
    private final AtomicInteger connections = new AtomicInteger();
    private int[] sizes = {};
    private long keepAliveMillis;

    /** Where a message goes. */
    static long place(long message) {
        return message % Exchange.SLOTS * MessagePattern.MAX_MESSAGE_BYTES;
    }

    @Override
    public void run(Parent parent) throws IOException {
        sizes = parent.numbers("sizes");
        keepAliveMillis = parent.number("keepAliveMillis", 0);
        TrafficSide.Shape shape = TrafficSide.Shape.of(4, Exchange.SLOTS, REGION_BYTES)
                .withAckTimeout((int) parent.number("timeout", 14));
        TrafficSide.Listener listener =
                new TrafficSide.Listener(new InetSocketAddress(parent.text("address", "127.0.0.1"), 0), 128);
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                TrafficSide.Request request = listener.request();
                Thread.ofPlatform().daemon().start(() -> serve(request, shape));
            }
        });
        parent.report("port", listener.port());
        for (String word = parent.nextCommand(); !word.equals("end"); word = parent.nextCommand()) {
            if (word.equals("connections")) {
                parent.report("connections", connections.get());
            } else if (word.equals("icrcErrors")) {
                parent.report("icrcErrors", listener.icrcErrors());
            }
        }
    }

    private void serve(TrafficSide.Request request, TrafficSide.Shape shape) {
        try (TrafficSide side = request.accept(shape, this::prepare)) {
            side.queuePair().setKeepAlive(Duration.ofMillis(keepAliveMillis));
            connections.incrementAndGet();
            try {
                new Conversation(side).hold();
            } finally {
                connections.decrementAndGet();
            }
        } catch (RdmaException e) {
            // The peer has given up meanwhile, or its last word is lost.
            System.err.println("a conversation ends: " + e.getMessage());
        }
    }

    private void prepare(TrafficSide fresh) {
        pattern.copyTo(fresh.region().memory(), TEXT_OFFSET);
        for (int i = 0; i < Exchange.SLOTS; i++) {
            fresh.postReceive(i, place(i), MessagePattern.MAX_MESSAGE_BYTES);
        }
    }

    /** One connection. */
    private final class Conversation {
        private final TrafficSide side;
        private final WorkCompletion[] batch = WorkCompletion.array(Exchange.SLOTS);
        private final SendWorkRequest answer = new SendWorkRequest();
        /** First message of the present batch. */
        private long firstMessage;
        /** SENDs and writes with immediate data of the present batch that came. */
        private int arrived;

        private long nextReceive;
        private int wrong;

        Conversation(TrafficSide side) {
            this.side = side;
        }

        void hold() {
            boolean goesOn = true;
            while (goesOn) {
                int count = side.await(batch, LOOK);
                for (int i = 0; i < count && goesOn; i++) {
                    goesOn = take(batch[i]);
                }
                goesOn &= count > 0 || !side.hasEnded();
            }
        }

        private boolean take(WorkCompletion completion) {
            if (!completion.isSuccess()) {
                System.err.println("a conversation ends: " + side.failure(completion));
                return false;
            }
            if (!completion.opcode().isReceive()) {
                return true;
            }
            if (completion.id() != nextReceive % Exchange.SLOTS) {
                wrong++;
            }
            nextReceive++;
            boolean isWrite = completion.opcode() == CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE;
            if (completion.hasImmediate() && !isWrite) {
                endBatch(completion.immediate());
            } else {
                long message = firstMessage + arrived++;
                int size = Exchange.size(sizes, message);
                boolean isRight = isWrite
                        ? completion.immediate() == (int) message && isThere(place(message), message, size)
                        : completion.byteLength() == size && isThere(place(completion.id()), message, size);
                wrong += isRight ? 0 : 1;
            }
            side.postReceive(completion.id(), place(completion.id()), MessagePattern.MAX_MESSAGE_BYTES);
            return true;
        }

        private void endBatch(int description) {
            TrafficOperation operation = TrafficOperation.ofCode(description >>> Exchange.COUNT_BITS);
            int count = description & (1 << Exchange.COUNT_BITS) - 1;
            int due = operation == TrafficOperation.SEND || operation == TrafficOperation.WRITE_IMMEDIATE ? count : 0;
            wrong += Math.abs(due - arrived);
            for (int i = 0; i < count && operation == TrafficOperation.WRITE; i++) {
                long message = firstMessage + i;
                wrong += isThere(place(message), message, Exchange.size(sizes, message)) ? 0 : 1;
            }
            firstMessage += count;
            arrived = 0;
            side.queuePair().postSend(answer.reset(0).signaled().immediate(wrong));
        }

        private boolean isThere(long at, long message, int size) {
            MemorySegment memory = side.region().memory();
            return pattern.isIn(memory, at, message, size);
        }
    }
}
