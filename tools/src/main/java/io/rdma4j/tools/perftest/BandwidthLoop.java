package io.rdma4j.tools.perftest;

import java.util.function.Consumer;

/** A loop that keeps many operations under way. Not thread safe. */
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
        messages = settings.noPeak ? 0 : Math.toIntExact(settings.iterations * settings.queuePairs);
    }

    /** What happens with the figures of each period of a run without end. */
    final void onInterim(Consumer<BandwidthSamples> action) {
        interim = action;
    }

    /** Goes through a run with messages of a size. */
    final BandwidthSamples run(long bytes) throws PerftestFailure {
        sizeBytes = bytes;
        queuePairRuns.forEach(queuePairRun -> queuePairRun.prepare(bytes, true));
        samples = new BandwidthSamples(messages);
        counted = 0;
        run();
        return samples;
    }

    abstract void run() throws PerftestFailure;

    /** Bytes of a message of this run. */
    final long sizeBytes() {
        return sizeBytes;
    }

    // ---- time

    /** The first message goes or comes: what is measured begins, or the time that will end it. */
    final void begin() {
        startTime();
        long now = System.nanoTime();
        samples.begin(now);
        nextReportNanos = now + settings.durationSeconds * NANOS_PER_SECOND;
    }

    /** The last message is done: so many were measured. */
    final void end(long total) {
        if (settings.timed) {
            samples.begin(phases.beganNanos());
            samples.end(phases.endedNanos(), counted);
        } else {
            samples.end(System.nanoTime(), total);
        }
    }

    /** Counts messages that are done, if the time has come. */
    final void count(int done) {
        if (settings.forever || phases.isSampling()) {
            counted += done;
        }
        if (settings.forever) {
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

    /** Whether a queue pair has room for another list of operations, and any to post. */
    final boolean canPost(QueuePairRun queuePairRun, long limit) {
        return queuePairRun.posted < limit
                && queuePairRun.posted - queuePairRun.done + settings.postList <= settings.sendDepth;
    }

    /** Posts a list of operations; {@code total} were posted before, on all queue pairs. */
    final void postList(QueuePairRun queuePairRun, long total, long limit) {
        if (samples.hasPeak()) {
            samples.onPost(total, System.nanoTime());
        }
        queuePairRun.postList(settings.moderation, limit);
    }

    /**
     * Operations of a queue pair are done: as many as one completion stands for.
     *
     * @param before operations of all queue pairs that were done before
     * @return how many are now
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
