package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A latency loop of SENDs in alternating directions. The client sends first. */
final class SendLatency extends LatencyLoop {
    private final ReceivePoster poster;

    SendLatency(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        poster = new ReceivePoster(settings, queuePairRuns.size(), this.receivers);
    }

    /** Posts the initial receives. Both sides do so before either one sends. */
    void postReceives(long sizeBytes) {
        queuePairRun().prepare(sizeBytes, false);
        poster.postInitial(sizeBytes, false);
    }

    @Override
    void run(long sizeBytes) throws ToolFailure {
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
                poster.replace(receivers.getFirst(), limit);
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

    /** Waits for a message. Returns false if the time is over before one arrives. */
    private boolean awaitReceive() throws ToolFailure {
        while (!receives.pollOne()) {
            if (phases.isOver()) {
                return false;
            }
            if (receives.isTimedOut()) {
                throw receives.lost();
            }
        }
        return true;
    }
}
