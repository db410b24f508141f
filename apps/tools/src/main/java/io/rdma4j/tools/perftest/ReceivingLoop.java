package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A bandwidth loop of a side that only receives messages. */
final class ReceivingLoop extends BandwidthLoop {
    private final ReceivePoster poster;

    ReceivingLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        poster = new ReceivePoster(settings, queuePairRuns.size(), resources.receivers());
    }

    /** Posts the initial receives, before the first message. */
    void postReceives(long sizeBytes) {
        poster.postInitial(sizeBytes, true);
    }

    @Override
    void run() throws ToolFailure {
        long limit = limit();
        long all = settings.timed ? Long.MAX_VALUE : limit * receivers.size();
        long received = 0;
        receives.expect(sizeBytes());
        while (received < all && !phases.isOver()) {
            int count = receives.poll();
            if (count > 0 && received == 0) {
                begin();
            }
            for (int i = 0; i < count; i++) {
                poster.replace(queuePairRuns.get(receives.queuePairIndex(i)), limit);
            }
            count(count);
            received += count;
            if (count == 0 && !settings.infinite && receives.isTimedOut()) {
                throw receives.lost(received, all);
            }
        }
        end(all);
    }
}
