package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A bandwidth loop in which both sides send and receive. The server starts sending after its first message arrives. */
final class BidirectionalLoop extends BandwidthLoop {
    private final long[] receivesPosted;

    BidirectionalLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        receivesPosted = new long[queuePairRuns.size()];
    }

    /** Posts the initial receives, before the first message. */
    void postReceives(long sizeBytes) {
        for (QueuePairRun queuePairRun : queuePairRuns) {
            queuePairRun.prepare(sizeBytes, true);
            for (int i = 0; i < settings.receiveDepth; i++) {
                queuePairRun.postReceive();
            }
            receivesPosted[queuePairRun.index()] = settings.receiveDepth;
        }
    }

    @Override
    void run() throws ToolFailure {
        long limit = limit();
        long all = settings.timed ? Long.MAX_VALUE : limit * queuePairRuns.size();
        long posted = 0;
        long done = 0;
        long received = 0;
        boolean mayPost = settings.isClient();
        receives.expect(2L * queuePairRuns.size() * settings.moderation * sizeBytes());
        if (mayPost) {
            begin();
        }
        while ((done < all || received < all) && !phases.isOver()) {
            if (mayPost) {
                posted += postWhatFits(posted, limit);
            }
            int newReceives = takeReceives(limit);
            if (newReceives > 0 && !mayPost) {
                mayPost = true;
                begin();
            }
            received += newReceives;
            int count = sends.pollNow();
            for (int i = 0; i < count; i++) {
                done = onDone(queuePairRuns.get(sends.queuePairIndex(i)), done, limit);
            }
            if (newReceives + count == 0) {
                receives.idle(sends);
                if (received < all && receives.isTimedOut()) {
                    throw receives.lost(received, all);
                }
            }
        }
        end(all);
    }

    private int postWhatFits(long before, long limit) {
        int count = 0;
        for (int i = 0; i < queuePairRuns.size(); i++) {
            QueuePairRun queuePairRun = queuePairRuns.get(i);
            while (canPost(queuePairRun, limit)) {
                postList(queuePairRun, before + count, limit);
                count += settings.postList;
            }
        }
        return count;
    }

    private int takeReceives(long limit) throws ToolFailure {
        int count = receives.pollNow();
        for (int i = 0; i < count; i++) {
            QueuePairRun queuePairRun = queuePairRuns.get(receives.queuePairIndex(i));
            if (receivesPosted[queuePairRun.index()] < limit) {
                queuePairRun.postReceive();
                receivesPosted[queuePairRun.index()]++;
            }
        }
        if (settings.timed) {
            count(count);
        }
        return count;
    }
}
