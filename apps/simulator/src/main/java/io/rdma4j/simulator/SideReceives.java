package io.rdma4j.simulator;

import io.rdma4j.transport.Completion;
import io.rdma4j.transport.ReceiveQueue;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.value.CompletionStatus;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The receives of one side of a reliable connection, in a separate queue or a pool, and the messages that it must
 * receive.
 */
final class SideReceives {
    /** Maximum number of bytes by which a receive exceeds the longest message. */
    static final int SLACK_BYTES = 24;

    /** A receive in the side's own queue. */
    private record Posted(long id, int offset) {}

    private final String name;
    private final SideMemory memory;
    private final int longestBytes;
    private final @Nullable ReceivePool pool;
    private final IntPredicate onRevoked;
    private final SplittableRandom random;
    private final ArrayDeque<ExpectedReceive> expected = new ArrayDeque<>();
    private final ArrayDeque<Posted> posted = new ArrayDeque<>();
    private int unposted;
    private int used;
    private int nextId;
    private int received;

    /**
     * Creates the receives, and posts none of them.
     *
     * @param pool the pool that receives come from, or null if the side has a separate queue
     * @param onRevoked called with each key that the peer has invalidated; returns whether that was expected
     */
    SideReceives(
            String name,
            SideMemory memory,
            int longestBytes,
            @Nullable ReceivePool pool,
            IntPredicate onRevoked,
            SplittableRandom random) {
        this.name = name;
        this.memory = memory;
        this.longestBytes = longestBytes;
        this.pool = pool;
        this.onRevoked = onRevoked;
        this.random = random;
    }

    /** Records a message that the peer sends. */
    void expect(ExpectedReceive receive) {
        expected.add(receive);
        unposted++;
    }

    /** Returns whether all messages have arrived. */
    boolean isEmpty() {
        return expected.isEmpty();
    }

    /** Returns the number of messages received. */
    int received() {
        return received;
    }

    /** Returns the number of the shared receive queue, or 0 if the receives are not shared. */
    int sharedQueueNumber() {
        return pool == null ? 0 : pool.queue().number();
    }

    /** Posts some of the required receives. A late receive causes RNR NAKs, but it is posted eventually. */
    void post(ReceiveQueue queue) {
        if (pool != null) {
            pool.postShortfall();
        }
        if (random.nextInt(3) != 0) {
            for (int i = random.nextInt(1, 4); i > 0 && unposted > 0 && postOne(queue); i--) {
                unposted--;
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

    /** Compares the completion of a receive with the expected message. */
    void onCompletion(Completion completion) {
        Posted oldest = posted.poll();
        check(
                pool != null || oldest != null && oldest.id == completion.workRequestId,
                "receive " + completion.workRequestId + " out of order");
        if (completion.status != CompletionStatus.SUCCESS) {
            onFailure(completion);
            return;
        }
        ExpectedReceive receive = expected.poll();
        if (receive == null) {
            throw new SimulationFailure(name + ": a receive completed without a message for it");
        }
        received++;
        checkFields(completion, receive);
        byte[] message = receive.message;
        boolean isRight = pool != null
                ? pool.complete(completion.workRequestId, message)
                : oldest != null
                        && Arrays.equals(
                                memory.receiveBytes,
                                oldest.offset,
                                oldest.offset + message.length,
                                message,
                                0,
                                message.length);
        check(isRight, "wrong bytes in a message of " + message.length + ", or in a receive that was not posted");
    }

    private void onFailure(Completion completion) {
        check(
                completion.status == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR,
                "a receive ended with " + completion.status);
        if (pool != null) {
            check(
                    pool.complete(completion.workRequestId, new byte[0]),
                    "shared receive " + completion.workRequestId + " flushed, but not posted");
            pool.addShortfall(1);
        }
    }

    private void checkFields(Completion completion, ExpectedReceive receive) {
        check(completion.isReceive, "a receive was reported as a send");
        check(completion.isReceiveOfWrite == receive.isWrite, "a SEND was reported as a WRITE, or a WRITE as a SEND");
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
                        && (key == null || key == completion.invalidatedKey && onRevoked.test(key)),
                "a window was not invalidated");
    }

    /** Ends the side. The receives that it has not posted may be missing in the pool. */
    void end() {
        if (pool != null) {
            pool.addShortfall(unposted);
            unposted = 0;
        }
    }

    /** Checks that no receive is left in the side's own queue after a flush. */
    void checkFlushed() {
        check(posted.isEmpty(), "receives without completion after the flush");
    }

    private void check(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(name + ": " + message);
        }
    }
}
