package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The completions of a queue, for the measurement loops. The queue is polled, or with {@code -e} its events are
 * awaited. While idle, the poller periodically checks whether the peer is still connected. Allocates nothing while
 * completions arrive. Not thread safe.
 */
final class Completions {
    private static final long SLOWEST_NANOS_PER_BYTE = 1000;
    private static final Duration EVENT_WAIT = Duration.ofMillis(100);

    /** Checks whether the peer has disconnected or exited. */
    interface Watch {
        boolean isPeerClosed();
    }

    private final CompletionQueue queue;
    private final @Nullable CompletionChannel channel;
    private final List<QueuePairRun> queuePairRuns;
    private final Watch watch;
    private final Console console;
    private final String side;
    private final WorkCompletion[] batch;
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private final ReceiveTimeout timeout = new ReceiveTimeout();
    private final Spin spin = new Spin();
    private boolean requiresImmediate;
    private boolean armed;
    private long arrived;
    private long arrivedAtCheck;
    private long lastArrivalNanos = System.nanoTime();
    private long allowanceNanos;
    private boolean timedOut;
    private boolean peerClosed;

    /**
     * Wraps a completion queue.
     *
     * @param channel the channel of the queue's events, or null to poll
     * @param queuePairRuns the runs, by the identifiers of their work requests
     * @param batchSize the maximum number of completions of one poll
     * @param side the side that perftest's error message names: client or server
     */
    Completions(
            CompletionQueue queue,
            @Nullable CompletionChannel channel,
            List<QueuePairRun> queuePairRuns,
            int batchSize,
            Watch watch,
            Console console,
            String side) {
        this.queue = queue;
        this.channel = channel;
        this.queuePairRuns = queuePairRuns;
        batch = WorkCompletion.array(batchSize);
        this.watch = watch;
        this.console = console;
        this.side = side;
    }

    /** Sets whether a completion without immediate data is an error. Returns this object. */
    Completions requireImmediate(boolean required) {
        requiresImmediate = required;
        return this;
    }

    /** Polls up to a batch of completions. If there are none and {@code -e} is set, every second call waits briefly. */
    int poll() throws ToolFailure {
        int count = pollInto(batch);
        if (count == 0) {
            idle(null);
        }
        return count;
    }

    /** Polls for one completion. If there is none, behaves like {@link #poll}. */
    boolean pollOne() throws ToolFailure {
        boolean found = pollInto(one) == 1;
        if (!found) {
            idle(null);
        }
        return found;
    }

    /** Polls up to a batch of completions without waiting. */
    int pollNow() throws ToolFailure {
        return pollInto(batch);
    }

    private int pollInto(WorkCompletion[] into) throws ToolFailure {
        int count = queue.poll(into);
        for (int i = 0; i < count; i++) {
            if (!into[i].isSuccess()) {
                throw failure(into[i]);
            }
            if (requiresImmediate && !into[i].hasImmediate()) {
                throw withoutImmediate(into[i]);
            }
        }
        if (count > 0) {
            arrived += count;
            spin.reset();
        }
        return count;
    }

    /** Returns the index of the queue pair of completion {@code index} of the last batch. */
    int queuePairIndex(int index) {
        return (int) batch[index].id();
    }

    // ---- idle

    /**
     * Called after a poll without completions. With {@code -e} the first call requests events, and the second one waits
     * if the poll in between was empty.
     *
     * @param other another queue; its completions also end the wait; may be null
     */
    void idle(@Nullable Completions other) throws ToolFailure {
        if (channel == null) {
            if (!spin.idle()) {
                return;
            }
        } else if (!armed) {
            armed = true;
            queue.requestNotification(false);
            if (other != null) {
                other.queue.requestNotification(false);
            }
            return;
        } else {
            armed = false;
            CompletionQueue ready = channel.await(EVENT_WAIT);
            if (ready != null) {
                ready.acknowledgeEvents(1);
                return;
            }
        }
        checkPeer();
    }

    private void checkPeer() throws ToolFailure {
        if (arrived != arrivedAtCheck) {
            arrivedAtCheck = arrived;
            lastArrivalNanos = System.nanoTime();
        }
        timedOut = System.nanoTime() - lastArrivalNanos > timeout.nanos() + allowanceNanos;
        if (peerClosed) {
            console.explain(
                    "the peer has exited while this side waited for it: it has failed, or was started with other"
                            + " options; both sides need the same -n, -s, -D, -q and -a");
            throw new ToolFailure(1);
        }
        // The next polls may still find completions of messages that the peer sent before it exited.
        peerClosed = watch.isPeerClosed();
    }

    /** Returns whether no completion has arrived for so long that the expected message must be lost. */
    boolean isTimedOut() {
        return timedOut;
    }

    /**
     * Restarts the loss timeout and extends it by the transfer time of the given bytes over a slow network.
     *
     * @param bytes the number of bytes between two completions, of all queue pairs together
     */
    void expect(long bytes) {
        timedOut = false;
        allowanceNanos = bytes * SLOWEST_NANOS_PER_BYTE;
        lastArrivalNanos = System.nanoTime();
    }

    // ---- failures

    /** Reports the loss of a message and returns the failure that ends the run. */
    ToolFailure lost() {
        console.explain("nothing was received for " + timeout.seconds()
                + " s: a message was lost, or the peer was started with other options");
        return new ToolFailure(1);
    }

    /**
     * Reports the loss of a message to a receiver with perftest's messages and returns the failure that ends the run.
     */
    ToolFailure lost(long received, long wanted) {
        console.error(" Did not get Message for " + timeout.seconds() + " Seconds, exiting..");
        console.error(" Total Received=" + received + ", Total Iters Required=" + wanted);
        return new ToolFailure(1);
    }

    private ToolFailure withoutImmediate(WorkCompletion completion) {
        console.error(" Completion with wc_flags mismatch at " + side);
        console.explain("a message of queue pair " + completion.queuePairNumber()
                + " had no immediate data; start both sides with the same options");
        return new ToolFailure(1);
    }

    private ToolFailure failure(WorkCompletion completion) {
        console.error(" Completion with error at " + side);
        console.error(" Failed status " + completion.status().code() + ": wr_id " + completion.id() + " syndrom 0x0");
        console.explain(String.format(
                Locale.ROOT,
                "%s (%s), queue pair 0x%06x; both sides need the same -n, -s, -D, -q and -a",
                completion.status(),
                queuePairRuns.get((int) completion.id()).queuePair().explain(completion.status()),
                completion.queuePairNumber()));
        return new ToolFailure(1);
    }
}
