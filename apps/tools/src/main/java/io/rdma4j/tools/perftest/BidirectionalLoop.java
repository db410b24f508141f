package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A bandwidth loop in which both sides send and receive. The server starts sending after its first message arrives. */
final class BidirectionalLoop extends BandwidthLoop {
    private final ReceivePoster poster;

    BidirectionalLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        poster = new ReceivePoster(settings, queuePairRuns.size(), this.receivers);
    }

    /** Posts the initial receives, before the first message. */
    void postReceives(long sizeBytes) {
        poster.postInitial(sizeBytes, true);
    }

    @Override
    void run() throws ToolFailure {
        long limit = limit();
        long all = settings.timed ? Long.MAX_VALUE : limit * senders.size();
        long posted = 0;
        long done = 0;
        long received = 0;
        boolean mayPost = settings.isClient();
        receives.expect(2L * senders.size() * settings.moderation * sizeBytes());
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
        for (int i = 0; i < senders.size(); i++) {
            QueuePairRun queuePairRun = senders.get(i);
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
            poster.replace(queuePairRuns.get(receives.queuePairIndex(i)), limit);
        }
        if (settings.timed) {
            count(count);
        }
        return count;
    }
}
