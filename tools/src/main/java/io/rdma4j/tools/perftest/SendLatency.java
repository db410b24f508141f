package io.rdma4j.tools.perftest;

/** Messages to and fro, each of which takes a receive; the client begins. */
final class SendLatency extends LatencyLoop {
    SendLatency(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
    }

    /** Posts the receives that are there before the first message; both sides do before either sends. */
    void postReceives(long sizeBytes) {
        queuePairRun().prepare(sizeBytes, false);
        for (int i = 0; i < settings.receiveDepth; i++) {
            queuePairRun().postReceive();
        }
    }

    @Override
    void run(long sizeBytes) throws PerftestFailure {
        long limit = limit();
        long sent = 0;
        long received = 0;
        sends.expect(sizeBytes * settings.moderation);
        receives.expect(sizeBytes);
        while ((sent < limit || received < limit) && !phases.isOver()) {
            if (received < limit && (sent > 0 || !settings.isClient())) {
                if (!awaitReceive()) {
                    return;
                }
                if (received++ == 0) {
                    startTime();
                }
                count();
                if (settings.timed || received + settings.receiveDepth <= limit) {
                    queuePairRun().postReceive();
                }
            }
            if (sent < limit && !phases.isOver()) {
                boolean signaled = (sent + 1) % settings.moderation == 0 || sent + 1 == limit;
                post((int) sent, signaled);
                sent++;
                if (signaled) {
                    awaitSend();
                }
            }
        }
    }

    /** Whether a message has come; else the time is over. */
    private boolean awaitReceive() throws PerftestFailure {
        while (!receives.pollOne()) {
            if (phases.isOver()) {
                return false;
            }
            if (receives.isSilent()) {
                throw receives.lost();
            }
        }
        return true;
    }
}
