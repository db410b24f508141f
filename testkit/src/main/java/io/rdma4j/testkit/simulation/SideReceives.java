package io.rdma4j.testkit.simulation;

import io.rdma4j.transport.Completion;
import io.rdma4j.transport.ReceiveQueue;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.WorkStatus;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The receives of one side of a reliable connection, its own or those of a pool, and the messages that it must get. */
final class SideReceives {
    /** Bytes that a receive may be longer than the longest message. */
    static final int SLACK_BYTES = 24;

    /** A receive in the own queue. */
    private record Posted(long id, int offset) {}

    private final String name;
    private final SideMemory memory;
    private final int longestBytes;
    private final @Nullable ReceivePool pool;
    private final IntPredicate revocations;
    private final SplittableRandom random;
    private final ArrayDeque<ExpectedReceive> expected = new ArrayDeque<>();
    private final ArrayDeque<Posted> posted = new ArrayDeque<>();
    private int wanted;
    private int used;
    private int nextId;
    private int received;

    /**
     * Creates it with nothing posted.
     *
     * @param pool where receives come from, or null for own ones
     * @param revocations told of each own key that the peer has taken back; says whether it was to
     */
    SideReceives(
            String name,
            SideMemory memory,
            int longestBytes,
            @Nullable ReceivePool pool,
            IntPredicate revocations,
            SplittableRandom random) {
        this.name = name;
        this.memory = memory;
        this.longestBytes = longestBytes;
        this.pool = pool;
        this.revocations = revocations;
        this.random = random;
    }

    /** The peer sends a message. */
    void expect(ExpectedReceive receive) {
        expected.add(receive);
        wanted++;
    }

    /** Whether all messages have come. */
    boolean isEmpty() {
        return expected.isEmpty();
    }

    /** Messages that have come. */
    int received() {
        return received;
    }

    /** Number by which the peer names the queue, where it is shared. */
    int sharedQueueNumber() {
        return pool == null ? 0 : pool.queue().number();
    }

    /** Posts some of what is wanted; a receive that comes late makes the peer wait (RNR), but it does come. */
    void post(ReceiveQueue queue) {
        if (pool != null) {
            pool.payBack();
        }
        if (random.nextInt(3) != 0) {
            for (int i = random.nextInt(1, 4); i > 0 && wanted > 0 && postOne(queue); i--) {
                wanted--;
            }
        }
    }

    private boolean postOne(ReceiveQueue queue) {
        if (pool != null) {
            return pool.post();
        }
        ReceiveRequest request = queue.claim();
        if (request == null) {
            return false;
        }
        int size = longestBytes + random.nextInt(SLACK_BYTES);
        request.workRequestId = nextId++;
        RandomPieces.split(random, request.list, memory.receives, used, size);
        posted.add(new Posted(request.workRequestId, used));
        used += size;
        queue.publish();
        return true;
    }

    /** Takes the completion of a receive, and compares it with the message that must be there. */
    void onCompletion(Completion completion) {
        Posted own = posted.poll();
        check(
                pool != null || own != null && own.id == completion.workRequestId,
                "receive " + completion.workRequestId + " out of order");
        if (completion.status != WorkStatus.SUCCESS) {
            onFailure(completion);
            return;
        }
        ExpectedReceive receive = expected.poll();
        if (receive == null) {
            throw new SimulationFailure(name + ": a receive completed that nobody sent to");
        }
        received++;
        checkFields(completion, receive);
        byte[] message = receive.message;
        boolean isRight = pool != null
                ? pool.complete(completion.workRequestId, message)
                : own != null
                        && Arrays.equals(
                                memory.receiveBytes,
                                own.offset,
                                own.offset + message.length,
                                message,
                                0,
                                message.length);
        check(isRight, "wrong bytes in a message of " + message.length + ", or in a receive that was not posted");
    }

    private void onFailure(Completion completion) {
        check(completion.status == WorkStatus.WORK_REQUEST_FLUSHED_ERROR, "a receive ended with " + completion.status);
        if (pool != null) {
            check(
                    pool.complete(completion.workRequestId, new byte[0]),
                    "shared receive " + completion.workRequestId + " flushed, but not posted");
            pool.owe(1);
        }
    }

    private void checkFields(Completion completion, ExpectedReceive receive) {
        check(completion.isReceive, "a receive reported as a send");
        check(completion.isReceiveOfWrite == receive.isWrite, "SEND and WRITE confused");
        check(
                completion.byteLength == receive.byteLength,
                "received " + completion.byteLength + " bytes instead of " + receive.byteLength);
        check(
                completion.hasImmediate == (receive.immediate != null)
                        && (receive.immediate == null || receive.immediate == completion.immediate),
                "wrong immediate data");
        Integer key = receive.revokedKey;
        check(
                completion.hasInvalidatedKey == (key != null)
                        && (key == null || key == completion.invalidatedKey && revocations.test(key)),
                "a window was not taken back");
    }

    /** The side has ended: what it would have posted, others may miss in the pool. */
    void end() {
        if (pool != null) {
            pool.owe(wanted);
            wanted = 0;
        }
    }

    /** Checks that nothing is left in the own queue after a flush. */
    void checkFlushed() {
        check(posted.isEmpty(), "receives without completion after the flush");
    }

    private void check(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(name + ": " + message);
        }
    }
}
