package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A bandwidth loop of a side that only receives messages. */
final class ReceivingLoop extends BandwidthLoop {
    private final long[] posted;

    ReceivingLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        posted = new long[queuePairRuns.size()];
    }

    /** Posts the initial receives, before the first message. */
    void postReceives(long sizeBytes) {
        for (QueuePairRun queuePairRun : queuePairRuns) {
            queuePairRun.prepare(sizeBytes, true);
            for (int i = 0; i < settings.receiveDepth; i++) {
                queuePairRun.postReceive();
            }
            posted[queuePairRun.index()] = settings.receiveDepth;
        }
    }

    @Override
    void run() throws ToolFailure {
        long limit = limit();
        long all = settings.timed ? Long.MAX_VALUE : limit * queuePairRuns.size();
        long received = 0;
        receives.expect(sizeBytes());
        while (received < all && !phases.isOver()) {
            int count = receives.poll();
            if (count > 0 && received == 0) {
                begin();
            }
            for (int i = 0; i < count; i++) {
                replace(queuePairRuns.get(receives.queuePairIndex(i)), limit);
            }
            count(count);
            received += count;
            if (count == 0 && !settings.infinite && receives.isTimedOut()) {
                throw receives.lost(received, all);
            }
        }
        end(all);
    }

    private void replace(QueuePairRun queuePairRun, long limit) {
        if (posted[queuePairRun.index()] < limit) {
            queuePairRun.postReceive();
            posted[queuePairRun.index()]++;
        }
    }
}
