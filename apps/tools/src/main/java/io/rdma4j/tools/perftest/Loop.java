package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;
import java.util.List;

/** Base class of the measurement loops, which post and poll. Not thread safe. */
abstract class Loop {
    final Settings settings;
    final List<QueuePairRun> queuePairRuns;
    final List<QueuePairRun> senders;
    final List<QueuePairRun> receivers;
    final Completions sends;
    final Completions receives;
    Phases phases = Phases.idle();

    Loop(Settings settings, Resources resources, Completions sends, Completions receives) {
        this.settings = settings;
        this.queuePairRuns = resources.queuePairRuns();
        this.senders = resources.senders();
        this.receivers = resources.receivers();
        this.sends = sends;
        this.receives = receives;
    }

    /** Returns the number of operations of each queue pair, {@link Long#MAX_VALUE} in a timed run. */
    final long limit() {
        return settings.timed ? Long.MAX_VALUE : settings.iterations;
    }

    /** Starts the timer of a timed run. */
    final void startTime() {
        if (settings.timed && !settings.infinite) {
            phases = Phases.start(settings);
        }
    }

    /** Waits until one operation is complete or the time is over. */
    final void awaitSend() throws ToolFailure {
        while (!sends.pollOne() && !phases.isOver()) {
            if (sends.isTimedOut()) {
                throw sends.lost();
            }
        }
    }
}
