package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A latency loop of RDMA READs or atomic operations, which the client posts one after the other. */
final class FetchLatency extends LatencyLoop {
    FetchLatency(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
    }

    @Override
    void run(long sizeBytes) throws ToolFailure {
        queuePairRun().prepare(sizeBytes, false);
        long limit = limit();
        startTime();
        sends.expect(sizeBytes);
        for (long sent = 0; sent < limit && !phases.isOver(); sent++) {
            post((int) sent, true);
            awaitSend();
            count();
        }
    }
}
