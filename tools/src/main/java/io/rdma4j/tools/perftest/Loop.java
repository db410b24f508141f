package io.rdma4j.tools.perftest;

import java.util.List;

/** What the loops that post and poll have in common. Not thread safe. */
abstract class Loop {
    final Settings settings;
    final List<QueuePairRun> queuePairRuns;
    final Completions sends;
    final Completions receives;
    Phases phases = Phases.idle();

    Loop(Settings settings, Resources resources, Completions sends, Completions receives) {
        this.settings = settings;
        this.queuePairRuns = resources.queuePairRuns();
        this.sends = sends;
        this.receives = receives;
    }

    /** Operations of each queue pair; without end in a run that time ends. */
    final long limit() {
        return settings.timed ? Long.MAX_VALUE : settings.iterations;
    }

    /** Begins the time of a run that time ends. */
    final void startTime() {
        if (settings.timed && !settings.forever) {
            phases = Phases.start(settings);
        }
    }

    /** Waits for one operation to be done, or for the end of the time. */
    final void awaitSend() throws PerftestFailure {
        while (!sends.pollOne() && !phases.isOver()) {
            if (sends.isSilent()) {
                throw sends.lost();
            }
        }
    }
}
