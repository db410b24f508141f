package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A bandwidth loop that posts WRITEs, READs, atomics or SENDs and receives no messages. */
final class SendingLoop extends BandwidthLoop {
    SendingLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
    }

    /** Posts as many operations as the send queue holds and waits for them, before the measurement. */
    void warmUp(long sizeBytes) throws ToolFailure {
        for (QueuePairRun queuePairRun : senders) {
            queuePairRun.prepare(sizeBytes, true);
            sends.expect(settings.sendDepth * sizeBytes);
            int count = Math.max(settings.sendDepth, settings.postList);
            for (int i = 1; i <= count; i++) {
                queuePairRun.post(i == count);
            }
            awaitSend();
        }
    }

    @Override
    void run() throws ToolFailure {
        long limit = limit();
        long all = settings.timed ? Long.MAX_VALUE : limit * senders.size();
        long posted = 0;
        long done = 0;
        begin();
        sends.expect((long) senders.size() * settings.moderation * sizeBytes());
        while (done < all && !phases.isOver()) {
            for (int i = 0; i < senders.size(); i++) {
                QueuePairRun queuePairRun = senders.get(i);
                while (canPost(queuePairRun, limit)) {
                    postList(queuePairRun, posted, limit);
                    posted += settings.postList;
                    if (phases.isOver()) {
                        break;
                    }
                }
            }
            int count = sends.poll();
            for (int i = 0; i < count; i++) {
                done = onDone(queuePairRuns.get(sends.queuePairIndex(i)), done, limit);
            }
            if (count == 0 && sends.isTimedOut()) {
                throw sends.lost();
            }
        }
        end(all);
    }
}
