package io.rdma4j;

import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkRequestException;
import java.util.concurrent.locks.ReentrantLock;

/** The messages of a connection: places for them, and those that have arrived. Thread safe; one thread at a time receives. */
final class ReceiveQueue {
    private static final String RECEIVE = "receive";
    private static final int MOST_AT_ONCE = 16;

    private final QueuePair queuePair;
    private final CompletionWait wait;
    private final Message[] messages;

    /** Guards what follows. */
    private final ReentrantLock receiveLock = new ReentrantLock();

    private final WorkCompletion[] polled;
    private int polledCount;
    private int polledNext;
    private CompletionStatus failure = CompletionStatus.SUCCESS;

    /** Guards the request. */
    private final ReentrantLock postLock = new ReentrantLock();

    private final ReceiveWorkRequest request = new ReceiveWorkRequest();

    /**
     * Posts all places.
     *
     * @param memory the memory of all places
     * @param count the number of places
     */
    ReceiveQueue(QueuePair queuePair, CompletionWait wait, Buffer memory, int count) {
        this.queuePair = queuePair;
        this.wait = wait;
        long bytes = memory.lengthBytes() / count;
        polled = WorkCompletion.array(Math.min(count, MOST_AT_ONCE));
        messages = new Message[count];
        for (int place = 0; place < count; place++) {
            messages[place] = new Message(this, place, memory.slice(place * bytes, bytes));
            post(messages[place]);
        }
    }

    /** Posts the place of a message. */
    void post(Message message) {
        postLock.lock();
        try {
            Buffer place = message.whole();
            queuePair.postReceive(
                    request.reset(message.place()).into(place.region(), place.offsetBytes(), place.lengthBytes()));
        } catch (RdmaException closed) {
            return; // nothing arrives any more
        } finally {
            postLock.unlock();
        }
    }

    /** Waits for a message. */
    Message receive(long deadlineNanos) {
        receiveLock.lock();
        try {
            while (polledNext == polledCount) {
                requireUsable();
                poll();
                if (polledCount == 0) {
                    await(deadlineNanos);
                }
            }
            WorkCompletion completion = polled[polledNext];
            polledNext++;
            if (!completion.isSuccess()) {
                failure = completion.status();
                polledCount = 0;
                polledNext = 0;
                throw failure();
            }
            Message message = messages[(int) completion.id()];
            boolean isWrite = completion.opcode() == CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE;
            message.open(isWrite ? 0 : completion.byteLength(), completion.hasImmediate(), completion.immediate());
            return message;
        } finally {
            receiveLock.unlock();
        }
    }

    private void requireUsable() {
        wait.requireOpen(RECEIVE);
        if (failure != CompletionStatus.SUCCESS) {
            throw failure();
        }
    }

    private void poll() {
        polledNext = 0;
        polledCount = wait.poll(RECEIVE, polled);
    }

    private void await(long deadlineNanos) {
        wait.arm(RECEIVE);
        poll();
        if (polledCount > 0) {
            return;
        }
        boolean isInTime = wait.awaitOrEnd(deadlineNanos);
        boolean hasEnded = wait.events().isEnded();
        poll(); // what arrived before the end is received
        if (polledCount == 0 && hasEnded) {
            throw wait.events().ended(RECEIVE);
        }
        if (polledCount == 0 && !isInTime) {
            throw Thread.currentThread().isInterrupted()
                    ? new InterruptedRdmaException(RECEIVE, "no message of " + wait, "")
                    : new RdmaTimeoutException(RECEIVE, "no message of " + wait, "");
        }
    }

    private RdmaException failure() {
        wait.requireOpen(RECEIVE);
        if (failure == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR && wait.hasEnded()) {
            return wait.events().ended(RECEIVE);
        }
        return WorkRequestException.of(RECEIVE, failure, wait + " failed: " + queuePair.explain(failure));
    }
}
