package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import java.util.function.Consumer;

/** A loop that keeps many operations outstanding. Not thread safe. */
abstract class BandwidthLoop extends Loop {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final int messages;
    private BandwidthSamples samples = new BandwidthSamples(0);
    private long sizeBytes;
    private long counted;
    private long nextReportNanos;
    private Consumer<BandwidthSamples> interim = ignored -> {};

    BandwidthLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        messages = settings.noPeak ? 0 : Math.toIntExact(settings.iterations * senders.size());
    }

    /** Sets the consumer of the figures of each period of an infinite run. */
    final void onInterim(Consumer<BandwidthSamples> action) {
        interim = action;
    }

    /** Runs the measurement with messages of the given size. */
    final BandwidthSamples run(long bytes) throws ToolFailure {
        sizeBytes = bytes;
        queuePairRuns.forEach(queuePairRun -> queuePairRun.prepare(bytes, true));
        samples = new BandwidthSamples(messages);
        counted = 0;
        run();
        return samples;
    }

    abstract void run() throws ToolFailure;

    /** Returns the size of a message of this run. */
    final long sizeBytes() {
        return sizeBytes;
    }

    // ---- time

    /** Starts the measurement at the first message sent or received. A timed run starts its timer. */
    final void begin() {
        startTime();
        long now = System.nanoTime();
        samples.begin(now);
        nextReportNanos = now + settings.durationSeconds * NANOS_PER_SECOND;
    }

    /** Ends the measurement of {@code total} messages. A timed run uses its own count. */
    final void end(long total) {
        if (settings.timed) {
            samples.begin(phases.startNanos());
            samples.end(phases.endNanos(), counted);
        } else {
            samples.end(System.nanoTime(), total);
        }
    }

    /** Counts completed messages of an infinite run, or of a timed run within the measured interval. */
    final void count(int done) {
        if (settings.infinite || phases.isSampling()) {
            counted += done;
        }
        if (settings.infinite) {
            reportPeriod();
        }
    }

    private void reportPeriod() {
        long now = System.nanoTime();
        if (now < nextReportNanos) {
            return;
        }
        samples.end(now, counted);
        interim.accept(samples);
        counted = 0;
        samples.begin(now);
        nextReportNanos = now + settings.durationSeconds * NANOS_PER_SECOND;
    }

    // ---- sending

    /** Returns whether the queue pair has operations left to post, and its send queue has space for another list. */
    final boolean canPost(QueuePairRun queuePairRun, long limit) {
        return queuePairRun.posted < limit
                && queuePairRun.posted - queuePairRun.done + settings.postList <= settings.sendDepth;
    }

    /** Posts a list of operations, after {@code total} operations on all queue pairs together. */
    final void postList(QueuePairRun queuePairRun, long total, long limit) {
        if (samples.hasPeak()) {
            samples.onPost(total, System.nanoTime());
        }
        queuePairRun.postList(settings.moderation, limit);
    }

    /**
     * Records one completion, which covers all operations of the queue pair since the previous one.
     *
     * @param before the number of completed operations of all queue pairs so far
     * @return the new number
     */
    final long onDone(QueuePairRun queuePairRun, long before, long limit) {
        int count = (int) Math.min(settings.moderation, limit - queuePairRun.done);
        queuePairRun.done += count;
        if (samples.hasPeak()) {
            samples.onDone(before + count, System.nanoTime());
        }
        count(count);
        return before + count;
    }
}
