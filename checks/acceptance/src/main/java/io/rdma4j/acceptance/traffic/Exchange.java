package io.rdma4j.acceptance.traffic;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The active side of a connection on which every byte and every completion is checked. {@link Answerer} is the passive
 * side.
 *
 * <p>Messages are sent in batches. A batch is followed by an empty SEND whose immediate data describe it. The passive
 * side checks the batch and responds with an empty SEND whose immediate data contain the number of wrong messages. Each
 * completion must be reported once, in order and with the right opcode. Not thread safe.
 */
public final class Exchange implements AutoCloseable {
    /** Messages of a batch. */
    static final int BATCH = 16;

    /** Receives that the passive side posts, and its message slots. */
    static final int SLOTS = 2 * BATCH;

    /**
     * Number of low bits of the immediate data that contain the number of messages of the batch; the bits above contain
     * the operation.
     */
    static final int COUNT_BITS = 16;

    private static final int RESPONSES = 4;
    private static final Duration WAIT_LIMIT = Duration.ofSeconds(40);

    /** Interval between checks whether the peer has disconnected. */
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

    private final TrafficSide side;
    private final MessagePattern pattern;
    private final MemoryRegion text;
    private final SendWorkRequest request = new SendWorkRequest();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH + RESPONSES);
    private final int[] sizes;
    private long messages;
    private long nextSendId;
    private long nextCompletionId;
    private long nextResponseId;
    private long bytes;

    /** The first error; empty if there is none. */
    private String wrong = "";

    private CompletionStatus status = CompletionStatus.SUCCESS;
    private boolean peerLeft;

    /**
     * Connects to an {@link Answerer}.
     *
     * @param sizes lengths of the messages in bytes, used in rotation
     * @throws io.rdma4j.verbs.RdmaException if connecting fails
     */
    public Exchange(InetSocketAddress from, InetSocketAddress to, int ackTimeout, int... sizes) {
        this.sizes = sizes.clone();
        TrafficSide.Shape shape = TrafficSide.Shape.of(
                        BATCH + 1, RESPONSES, (long) BATCH * MessagePattern.MAX_MESSAGE_BYTES)
                .withAckTimeout(ackTimeout);
        side = TrafficSide.connect(from, to, shape, newSide -> {
            for (int i = 0; i < RESPONSES; i++) {
                newSide.postReceive(i, 0, 0);
            }
        });
        pattern = new MessagePattern();
        text = pattern.register(side.domain());
    }

    /** Returns the connection. */
    public TrafficSide side() {
        return side;
    }

    /** Returns the first error; empty if there was none. */
    public String wrong() {
        return wrong;
    }

    /** Returns the status with which the connection ended, or {@link CompletionStatus#SUCCESS} if it has not. */
    public CompletionStatus status() {
        return status;
    }

    /** Returns the number of bytes that were transferred and checked. */
    public long bytes() {
        return bytes;
    }

    /** Returns the same values for the test. */
    public Map<String, Object> report() {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("wrong", wrong);
        report.put("status", status.name());
        report.put("peerLeft", peerLeft);
        report.put("bytes", bytes);
        report.put("messages", messages);
        return report;
    }

    /** Transfers at least {@code atLeastBytes} more, until an error. Returns whether there was none. */
    public boolean move(TrafficOperation operation, long atLeastBytes) {
        long until = bytes + atLeastBytes;
        while (bytes < until && wrong.isEmpty()) {
            moveBatch(operation);
        }
        return wrong.isEmpty();
    }

    /** Transfers one batch. Returns whether there was no error so far. */
    public boolean moveBatch(TrafficOperation operation) {
        long first = messages;
        for (int i = 0; i < BATCH; i++) {
            post(operation, first + i);
        }
        request.reset(nextSendId++).signaled().withImmediate(operation.code() << COUNT_BITS | BATCH);
        side.queuePair().postSend(request);
        messages += BATCH;
        long responses = nextResponseId + 1;
        while (wrong.isEmpty() && (nextCompletionId < nextSendId || nextResponseId < responses)) {
            int count = await();
            for (int i = 0; i < count && wrong.isEmpty(); i++) {
                check(operation, batch[i]);
            }
        }
        for (int i = 0; i < BATCH && wrong.isEmpty(); i++) {
            int size = size(first + i);
            if (operation == TrafficOperation.READ
                    && !pattern.isIn(side.region().memory(), slotOffset(first + i), first + i, size)) {
                wrong = "message " + (first + i) + " of " + size + " bytes, READ: wrong bytes";
            }
            bytes += size;
        }
        return wrong.isEmpty();
    }

    /**
     * Waits for completions. A side that waits only for a response has no request outstanding that could time out. The
     * peer then exceeds its retry count and disconnects, which is checked at intervals.
     */
    private int await() {
        long deadline = System.nanoTime() + WAIT_LIMIT.toNanos();
        while (true) {
            int count = side.await(batch, CHECK_INTERVAL);
            if (count > 0) {
                return count;
            }
            peerLeft = side.hasEnded();
            if (peerLeft) {
                wrong = "the peer has disconnected, " + side.counted();
                return 0;
            }
            if (System.nanoTime() - deadline >= 0) {
                wrong = side.silence(WAIT_LIMIT);
                return 0;
            }
        }
    }

    private void post(TrafficOperation operation, long message) {
        int size = size(message);
        request.reset(nextSendId++).signaled();
        if (operation == TrafficOperation.READ) {
            request.from(side.region(), slotOffset(message), size)
                    .read(
                            side.remoteAddress() + Answerer.TEXT_OFFSET + MessagePattern.offset(message),
                            side.remoteKey());
        } else {
            request.from(text, MessagePattern.offset(message), size);
        }
        if (operation == TrafficOperation.WRITE || operation == TrafficOperation.WRITE_IMMEDIATE) {
            request.write(side.remoteAddress() + Answerer.slotOffset(message), side.remoteKey());
        }
        if (operation == TrafficOperation.WRITE_IMMEDIATE) {
            request.withImmediate((int) message);
        }
        side.queuePair().postSend(request);
    }

    private void check(TrafficOperation operation, WorkCompletion completion) {
        if (!completion.isSuccess()) {
            status = completion.status();
            wrong = side.failure(completion);
        } else if (completion.opcode() == CompletionOpcode.RECEIVE) {
            if (completion.id() != nextResponseId % RESPONSES) {
                wrong = "a response out of order: " + completion;
            } else if (!completion.hasImmediate() || completion.immediate() != 0) {
                wrong = "the peer found " + completion.immediate() + " wrong messages";
            }
            nextResponseId++;
            side.postReceive(completion.id(), 0, 0);
        } else {
            boolean isEnd = completion.id() % (BATCH + 1) == BATCH;
            CompletionOpcode expected = isEnd ? CompletionOpcode.SEND : operation.completion();
            if (completion.id() != nextCompletionId || completion.opcode() != expected) {
                wrong = "expected completion " + nextCompletionId + " " + expected + ", got " + completion;
            }
            nextCompletionId++;
        }
    }

    /** Waits briefly. Returns whether no unexpected completion is reported and there was no error so far. */
    public boolean isQuiet() {
        if (wrong.isEmpty() && side.await(batch, Duration.ofMillis(50)) > 0) {
            wrong = "an unexpected completion: " + batch[0];
        }
        return wrong.isEmpty();
    }

    private int size(long message) {
        return size(sizes, message);
    }

    /** Returns the length of a message. */
    static int size(int[] sizes, long message) {
        return sizes[(int) (message % sizes.length)];
    }

    private static long slotOffset(long message) {
        return message % BATCH * MessagePattern.MAX_MESSAGE_BYTES;
    }

    @Override
    public void close() {
        text.close();
        side.close();
    }
}
