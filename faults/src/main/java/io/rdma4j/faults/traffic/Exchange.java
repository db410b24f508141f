package io.rdma4j.faults.traffic;

import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The active side of a conversation in which every byte and every completion is checked; {@link Answerer} is the other.
 *
 * <p>Messages go in batches. Behind a batch follows an empty SEND whose immediate data say what it consisted of; the other
 * side checks it and answers with an empty SEND that says in how many messages something was wrong. Completions must come
 * once each, in order, and as what they are. Not thread safe.
 */
public final class Exchange implements AutoCloseable {
    /** Messages of a batch. */
    static final int BATCH = 16;

    /** Receives that the other side posts, and places that it has for messages. */
    static final int SLOTS = 2 * BATCH;

    /** Immediate data: the operation above these bits, the number of messages of the batch in them. */
    static final int COUNT_BITS = 16;

    private static final int ANSWERS = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** How often who waits looks whether the peer is still there. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final TrafficSide side;
    private final MessagePattern pattern;
    private final MemoryRegion text;
    private final SendWorkRequest request = new SendWorkRequest();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH + ANSWERS);
    private final int[] sizes;
    private long messages;
    private long nextSendId;
    private long nextCompletionId;
    private long nextAnswerId;
    private long bytes;

    /** What stands in the way of going on; empty while all is well. */
    private String wrong = "";

    private CompletionStatus status = CompletionStatus.SUCCESS;
    private boolean peerLeft;

    /**
     * Connects to an {@link Answerer}.
     *
     * @param sizes lengths of the messages in bytes, in turns
     * @throws io.rdma4j.verbs.RdmaException if that fails
     */
    public Exchange(InetSocketAddress from, InetSocketAddress to, int ackTimeout, int... sizes) {
        this.sizes = sizes.clone();
        TrafficSide.Shape shape = TrafficSide.Shape.of(
                        BATCH + 1, ANSWERS, (long) BATCH * MessagePattern.MAX_MESSAGE_BYTES)
                .withAckTimeout(ackTimeout);
        side = TrafficSide.connect(from, to, shape, fresh -> {
            for (int i = 0; i < ANSWERS; i++) {
                fresh.postReceive(i, 0, 0);
            }
        });
        pattern = new MessagePattern();
        text = pattern.register(side.domain());
    }

    /** The connection. */
    public TrafficSide side() {
        return side;
    }

    /** The first thing that was wrong; empty if nothing was. */
    public String wrong() {
        return wrong;
    }

    /** How the connection ended; {@link CompletionStatus#SUCCESS} while it lives. */
    public CompletionStatus status() {
        return status;
    }

    /** Bytes that were moved and checked. */
    public long bytes() {
        return bytes;
    }

    /** The same for the other process. */
    public Map<String, Object> report() {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("wrong", wrong);
        report.put("status", status.name());
        report.put("peerLeft", peerLeft);
        report.put("bytes", bytes);
        report.put("messages", messages);
        return report;
    }

    /** Moves at least {@code atLeastBytes} more, unless something goes wrong; whether nothing has. */
    public boolean move(TrafficOperation operation, long atLeastBytes) {
        long until = bytes + atLeastBytes;
        while (bytes < until && wrong.isEmpty()) {
            moveBatch(operation);
        }
        return wrong.isEmpty();
    }

    /** Moves one batch; whether nothing has gone wrong. */
    public boolean moveBatch(TrafficOperation operation) {
        long first = messages;
        for (int i = 0; i < BATCH; i++) {
            post(operation, first + i);
        }
        request.reset(nextSendId++).signaled().immediate(operation.code() << COUNT_BITS | BATCH);
        side.queuePair().postSend(request);
        messages += BATCH;
        long answers = nextAnswerId + 1;
        while (wrong.isEmpty() && (nextCompletionId < nextSendId || nextAnswerId < answers)) {
            int count = await();
            for (int i = 0; i < count && wrong.isEmpty(); i++) {
                take(operation, batch[i]);
            }
        }
        for (int i = 0; i < BATCH && wrong.isEmpty(); i++) {
            int size = size(first + i);
            if (operation == TrafficOperation.READ
                    && !pattern.isIn(side.region().memory(), place(first + i), first + i, size)) {
                wrong = "message " + (first + i) + " of " + size + " bytes, READ: other bytes";
            }
            bytes += size;
        }
        return wrong.isEmpty();
    }

    /**
     * Waits for completions. Who only waits for an answer has nothing that could fail when the answer has been repeated as
     * often as may be: the other side then disconnects, and this one hears of it.
     */
    private int await() {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            int count = side.await(batch, LOOK);
            if (count > 0) {
                return count;
            }
            peerLeft = side.hasEnded();
            if (peerLeft) {
                wrong = "the other side has left, " + side.counted();
                return 0;
            }
            if (System.nanoTime() - deadline >= 0) {
                wrong = side.silence(PATIENCE);
                return 0;
            }
        }
    }

    private void post(TrafficOperation operation, long message) {
        int size = size(message);
        request.reset(nextSendId++).signaled();
        if (operation == TrafficOperation.READ) {
            request.from(side.region(), place(message), size)
                    .read(
                            side.remoteAddress() + Answerer.TEXT_OFFSET + MessagePattern.offset(message),
                            side.remoteKey());
        } else {
            request.from(text, MessagePattern.offset(message), size);
        }
        if (operation == TrafficOperation.WRITE || operation == TrafficOperation.WRITE_IMMEDIATE) {
            request.write(side.remoteAddress() + Answerer.place(message), side.remoteKey());
        }
        if (operation == TrafficOperation.WRITE_IMMEDIATE) {
            request.immediate((int) message);
        }
        side.queuePair().postSend(request);
    }

    private void take(TrafficOperation operation, WorkCompletion completion) {
        if (!completion.isSuccess()) {
            status = completion.status();
            wrong = side.failure(completion);
        } else if (completion.opcode() == CompletionOpcode.RECEIVE) {
            if (completion.id() != nextAnswerId % ANSWERS) {
                wrong = "an answer out of order: " + completion;
            } else if (!completion.hasImmediate() || completion.immediate() != 0) {
                wrong = "the other side found " + completion.immediate() + " wrong";
            }
            nextAnswerId++;
            side.postReceive(completion.id(), 0, 0);
        } else {
            boolean isEnd = completion.id() % (BATCH + 1) == BATCH;
            CompletionOpcode due = isEnd ? CompletionOpcode.SEND : operation.completion();
            if (completion.id() != nextCompletionId || completion.opcode() != due) {
                wrong = "expected completion " + nextCompletionId + " " + due + ", got " + completion;
            }
            nextCompletionId++;
        }
    }

    /** Whether no completion comes that was not asked for, for a moment. */
    public boolean isQuiet() {
        if (wrong.isEmpty() && side.await(batch, Duration.ofMillis(50)) > 0) {
            wrong = "more than was asked for: " + batch[0];
        }
        return wrong.isEmpty();
    }

    private int size(long message) {
        return size(sizes, message);
    }

    /** Length of a message. */
    static int size(int[] sizes, long message) {
        return sizes[(int) (message % sizes.length)];
    }

    private static long place(long message) {
        return message % BATCH * MessagePattern.MAX_MESSAGE_BYTES;
    }

    @Override
    public void close() {
        text.close();
        side.close();
    }
}
