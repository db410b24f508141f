package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
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
 * The passive side of any number of {@link Exchange}s: checks every message and every completion, and responds.
 *
 * <p>The parameters are {@code address}, {@code timeout} (exponent), {@code sizes} (lengths of messages, separated by
 * commas) and {@code keepAliveMillis} (of each connection; 0 for none). It reports {@code port}; on {@code connections}
 * the number of connections; and on {@code icrcErrors} the number of packets dropped so far because of a wrong ICRC. It
 * exits on {@code end}.
 */
public final class Answerer implements Role {
    /** Offset of the readable text in the region, after the message slots. */
    static final long TEXT_OFFSET = (long) Exchange.SLOTS * MessagePattern.MAX_MESSAGE_BYTES;

    private static final long REGION_BYTES = TEXT_OFFSET + 2L * MessagePattern.MAX_MESSAGE_BYTES;
    private static final Duration POLL_INTERVAL = Duration.ofMillis(200);

    private final MessagePattern pattern = new MessagePattern();
    private final AtomicInteger connections = new AtomicInteger();
    private int[] sizes = {};
    private long keepAliveMillis;

    /** Returns the offset of the slot of a message. */
    static long slotOffset(long message) {
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
        for (String command = parent.nextCommand(); !command.equals("end"); command = parent.nextCommand()) {
            if (command.equals("connections")) {
                parent.report("connections", connections.get());
            } else if (command.equals("icrcErrors")) {
                parent.report("icrcErrors", listener.icrcErrors());
            }
        }
    }

    private void serve(TrafficSide.Request request, TrafficSide.Shape shape) {
        try (TrafficSide side = request.accept(shape, this::prepare)) {
            side.queuePair().setKeepAlive(Duration.ofMillis(keepAliveMillis));
            connections.incrementAndGet();
            try {
                new Connection(side).serve();
            } finally {
                connections.decrementAndGet();
            }
        } catch (RdmaException e) {
            // The peer has given up, or its last message was lost.
            System.err.println("a connection ends: " + e.getMessage());
        }
    }

    private void prepare(TrafficSide side) {
        pattern.copyTo(side.region().memory(), TEXT_OFFSET);
        for (int i = 0; i < Exchange.SLOTS; i++) {
            side.postReceive(i, slotOffset(i), MessagePattern.MAX_MESSAGE_BYTES);
        }
    }

    /** One connection. */
    private final class Connection {
        private final TrafficSide side;
        private final WorkCompletion[] batch = WorkCompletion.array(Exchange.SLOTS);
        private final SendWorkRequest response = new SendWorkRequest();
        /** First message of the current batch. */
        private long firstMessage;
        /** Received SENDs and WRITEs with immediate data of the current batch. */
        private int arrived;

        private long nextReceive;
        private int wrong;

        Connection(TrafficSide side) {
            this.side = side;
        }

        void serve() {
            boolean running = true;
            while (running) {
                int count = side.await(batch, POLL_INTERVAL);
                for (int i = 0; i < count && running; i++) {
                    running = receive(batch[i]);
                }
                running &= count > 0 || !side.hasEnded();
            }
        }

        private boolean receive(WorkCompletion completion) {
            if (!completion.isSuccess()) {
                System.err.println("a connection ends: " + side.failure(completion));
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
                        ? completion.immediate() == (int) message && isIntact(slotOffset(message), message, size)
                        : completion.byteLength() == size && isIntact(slotOffset(completion.id()), message, size);
                wrong += isRight ? 0 : 1;
            }
            side.postReceive(completion.id(), slotOffset(completion.id()), MessagePattern.MAX_MESSAGE_BYTES);
            return true;
        }

        private void endBatch(int description) {
            TrafficOperation operation = TrafficOperation.ofCode(description >>> Exchange.COUNT_BITS);
            int count = description & (1 << Exchange.COUNT_BITS) - 1;
            int expected =
                    operation == TrafficOperation.SEND || operation == TrafficOperation.WRITE_IMMEDIATE ? count : 0;
            wrong += Math.abs(expected - arrived);
            for (int i = 0; i < count && operation == TrafficOperation.WRITE; i++) {
                long message = firstMessage + i;
                wrong += isIntact(slotOffset(message), message, Exchange.size(sizes, message)) ? 0 : 1;
            }
            firstMessage += count;
            arrived = 0;
            side.queuePair().postSend(response.reset(0).signaled().withImmediate(wrong));
        }

        private boolean isIntact(long offset, long message, int size) {
            MemorySegment memory = side.region().memory();
            return pattern.isIn(memory, offset, message, size);
        }
    }
}
