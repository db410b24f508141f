package io.rdma4j;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The places for messages or datagrams of a queue pair, and those that have arrived. Thread safe; one thread at a time receives,
 * the others wait for it.
 *
 * @param <P> the type of the places
 */
final class ReceiveQueue<P extends ReceivePlace> {
    /** Makes a place. */
    interface Factory<P extends ReceivePlace> {
        P create(ReceiveQueue<P> queue, int number, Buffer memory);
    }

    private static final String RECEIVE = "receive";
    private static final int MAX_POLLED = 16;

    private final QueuePair queuePair;
    private final CompletionWait wait;
    private final List<P> places;

    /** Guards the following fields. */
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
     * @param memory the memory of all places; closed if the constructor fails
     * @param count the number of places
     */
    ReceiveQueue(QueuePair queuePair, CompletionWait wait, Buffer memory, int count, Factory<P> factory) {
        this.queuePair = queuePair;
        this.wait = wait;
        long bytes = memory.lengthBytes() / count;
        polled = WorkCompletion.array(Math.min(count, MAX_POLLED));
        places = new ArrayList<>(count);
        try {
            for (int number = 0; number < count; number++) {
                P place = factory.create(this, number, memory.slice(number * bytes, bytes));
                places.add(place);
                post(place);
            }
        } catch (RuntimeException | Error failed) { // such as no memory for the places
            Cleanup.after(failed, memory::close);
            throw failed;
        }
    }

    /** Posts a place. */
    void post(ReceivePlace place) {
        postLock.lock();
        try {
            Buffer whole = place.whole();
            queuePair.postReceive(
                    request.reset(place.number()).into(whole.region(), whole.offsetBytes(), whole.lengthBytes()));
        } catch (RdmaException closed) {
            return; // nothing arrives anymore
        } finally {
            postLock.unlock();
        }
    }

    /** Waits for the next message or datagram. */
    P receive(long deadlineNanos) {
        wait.lock(receiveLock, RECEIVE, deadlineNanos);
        try {
            while (polledNext == polledCount) {
                requireUsable();
                poll();
                if (polledCount == 0) {
                    await(deadlineNanos);
                }
            }
            WorkCompletion completion = polled[polledNext];
            if (!completion.isSuccess()) {
                failure = completion.status();
                polledCount = 0;
                polledNext = 0;
                throw failure();
            }
            P place = places.get((int) completion.id());
            place.open(completion);
            polledNext++; // last: a call that fails for lack of stack or memory has received nothing
            return place;
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
        polledCount = 0; // before the call, which may fail
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
                    ? new InterruptedRdmaException(RECEIVE, "nothing has arrived at " + wait, "")
                    : new RdmaTimeoutException(RECEIVE, "nothing has arrived at " + wait, adviceIfFull());
        }
    }

    private String adviceIfFull() {
        return places.stream().allMatch(ReceivePlace::isOpen)
                ? "The program holds all " + places.size() + " places: close what was received"
                : "";
    }

    private RdmaException failure() {
        return wait.failure(RECEIVE, queuePair, failure);
    }
}
