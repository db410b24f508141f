package io.rdma4j.tools.perftest;

import io.rdma4j.tools.messages.Patience;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue as the loops use it: polled, or with {@code -e} waited for. Looks now and then whether the peer is
 * still there. Allocates nothing while completions come. Not thread safe.
 */
final class Completions {
    private static final int BATCH = 16;
    private static final long SLOWEST_NANOS_PER_BYTE = 1000;
    private static final Duration GLANCE = Duration.ofMillis(100);

    /** Whether the peer has gone. */
    interface Watch {
        boolean isPeerGone();
    }

    private final CompletionQueue queue;
    private final @Nullable CompletionChannel channel;
    private final List<QueuePairRun> queuePairRuns;
    private final Watch watch;
    private final Console console;
    private final String side;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private final Patience patience = new Patience();
    private final Spin spin = new Spin();
    private boolean armed;
    private long arrived;
    private long arrivedAtLook;
    private long sawNanos = System.nanoTime();
    private long allowanceNanos;
    private boolean silent;
    private boolean gone;

    /**
     * Wraps a queue.
     *
     * @param channel where it reports, or null to poll
     * @param queuePairRuns those whose numbers the identifiers of the work requests are
     * @param side where completions end with an error, in perftest's line: client or server
     */
    Completions(
            CompletionQueue queue,
            @Nullable CompletionChannel channel,
            List<QueuePairRun> queuePairRuns,
            Watch watch,
            Console console,
            String side) {
        this.queue = queue;
        this.channel = channel;
        this.queuePairRuns = queuePairRuns;
        this.watch = watch;
        this.console = console;
        this.side = side;
    }

    /** Takes what is there, up to a batch. If nothing is, the next call with {@code -e} waits a moment. */
    int poll() throws PerftestFailure {
        int count = take(batch);
        if (count == 0) {
            idle(null);
        }
        return count;
    }

    /** Takes one completion, or none as {@link #poll}. */
    boolean pollOne() throws PerftestFailure {
        boolean came = take(one) == 1;
        if (!came) {
            idle(null);
        }
        return came;
    }

    /** Takes what is there, and never waits. */
    int pollNow() throws PerftestFailure {
        return take(batch);
    }

    private int take(WorkCompletion[] into) throws PerftestFailure {
        int count = queue.poll(into);
        for (int i = 0; i < count; i++) {
            if (!into[i].isSuccess()) {
                throw failure(into[i]);
            }
        }
        if (count > 0) {
            arrived += count;
            spin.reset();
        }
        return count;
    }

    /** Which queue pair completion {@code index} of the last batch is of. */
    int queuePairRun(int index) {
        return (int) batch[index].id();
    }

    // ---- when nothing comes

    /**
     * Nothing has come. With {@code -e} every second call waits: events are asked for before the last look.
     *
     * @param other another queue that must end the wait, too; null for none
     */
    void idle(@Nullable Completions other) throws PerftestFailure {
        if (channel == null) {
            if (!spin.once()) {
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
            CompletionQueue ready = channel.await(GLANCE);
            if (ready != null) {
                ready.acknowledgeEvents(1);
                return;
            }
        }
        look();
    }

    private void look() throws PerftestFailure {
        if (arrived != arrivedAtLook) {
            arrivedAtLook = arrived;
            sawNanos = System.nanoTime();
        }
        silent = System.nanoTime() - sawNanos > patience.nanos() + allowanceNanos;
        if (gone) {
            console.explain("the peer has gone while this side waited for it: it has failed, or was started with other"
                    + " options; both sides need the same -n, -s, -D, -q and -a");
            throw new PerftestFailure(1);
        }
        // What it has sent before may still be found by the next look.
        gone = watch.isPeerGone();
    }

    /** Whether nothing has come for so long that what was waited for must be lost. */
    boolean isSilent() {
        return silent;
    }

    /**
     * Waits begin, each for so many bytes: over a slow network they take their time.
     *
     * @param bytes between one completion and the next, all queue pairs together
     */
    void expect(long bytes) {
        silent = false;
        allowanceNanos = bytes * SLOWEST_NANOS_PER_BYTE;
        sawNanos = System.nanoTime();
    }

    // ---- failures

    /** Why a ping-pong over an unreliable transport ends early. */
    PerftestFailure lost() {
        console.explain("nothing came for " + patience.seconds()
                + " s: a message was lost, or the peer was started with other options");
        return new PerftestFailure(1);
    }

    /** Why a receiver over an unreliable transport ends early. */
    PerftestFailure lost(long received, long wanted) {
        console.error(" Did not get Message for " + patience.seconds() + " Seconds, exiting..");
        console.error(" Total Received=" + received + ", Total Iters Required=" + wanted);
        return new PerftestFailure(1);
    }

    private PerftestFailure failure(WorkCompletion completion) {
        console.error(" Completion with error at " + side);
        console.error(" Failed status " + completion.status().code() + ": wr_id " + completion.id() + " syndrom 0x0");
        console.explain(String.format(
                Locale.ROOT,
                "%s (%s), queue pair 0x%06x; both sides need the same -n, -s, -D, -q and -a",
                completion.status(),
                queuePairRuns.get((int) completion.id()).queuePair().explain(completion.status()),
                completion.queuePairNumber()));
        return new PerftestFailure(1);
    }
}
