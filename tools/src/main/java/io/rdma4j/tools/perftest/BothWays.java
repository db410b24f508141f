package io.rdma4j.tools.perftest;

/** Both sides send and receive at a time; the server begins when it has got a message. */
final class BothWays extends BandwidthLoop {
    private final long[] receivesPosted;

    BothWays(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        receivesPosted = new long[lanes.size()];
    }

    /** Posts the receives that are there before the first message. */
    void postReceives(long sizeBytes) {
        for (QueuePairRun lane : lanes) {
            lane.prepare(sizeBytes, true);
            for (int i = 0; i < settings.receiveDepth; i++) {
                lane.postReceive();
            }
            receivesPosted[lane.index()] = settings.receiveDepth;
        }
    }

    @Override
    void run() throws PerftestFailure {
        long limit = limit();
        long all = settings.timed ? Long.MAX_VALUE : limit * lanes.size();
        long posted = 0;
        long done = 0;
        long received = 0;
        boolean mayPost = settings.isClient();
        receives.expect(2L * lanes.size() * settings.moderation * sizeBytes());
        if (mayPost) {
            begin();
        }
        while ((done < all || received < all) && !phases.isOver()) {
            if (mayPost) {
                posted += postWhatFits(posted, limit);
            }
            int came = takeReceives(limit);
            if (came > 0 && !mayPost) {
                mayPost = true;
                begin();
            }
            received += came;
            int count = sends.pollNow();
            for (int i = 0; i < count; i++) {
                done = onDone(lanes.get(sends.lane(i)), done, limit);
            }
            if (came + count == 0) {
                receives.idle(sends);
                if (received < all && receives.isSilent()) {
                    throw receives.lost(received, all);
                }
            }
        }
        end(all);
    }

    private int postWhatFits(long before, long limit) {
        int count = 0;
        for (int i = 0; i < lanes.size(); i++) {
            QueuePairRun lane = lanes.get(i);
            while (canPost(lane, limit)) {
                postList(lane, before + count, limit);
                count += settings.postList;
            }
        }
        return count;
    }

    private int takeReceives(long limit) throws PerftestFailure {
        int count = receives.pollNow();
        for (int i = 0; i < count; i++) {
            QueuePairRun lane = lanes.get(receives.lane(i));
            if (receivesPosted[lane.index()] < limit) {
                lane.postReceive();
                receivesPosted[lane.index()]++;
            }
        }
        if (settings.timed) {
            count(count);
        }
        return count;
    }
}
