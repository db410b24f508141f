package io.rdma4j.bench.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides when the warm-up of a measurement is over.
 *
 * <p>It is over when the compilers of the Java virtual machines have been idle for a while. On a machine with two
 * processors they compete with the two measured threads, which run many times slower until their code is compiled. Not
 * thread safe.
 */
public final class WarmUp {
    /** The interval at which the compilers' processor time is read. */
    static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(350);

    private final LongSupplier compilerTicks;
    private final long earliestEnd;
    private final long latestEnd;
    private long nextPoll;
    private long idleSince;
    private long ticks = -1;
    private boolean isCutShort;

    private WarmUp(long now, Parameters parameters, LongSupplier compilerTicks) {
        this.compilerTicks = compilerTicks;
        earliestEnd = now + parameters.warmUpNanos();
        latestEnd = now + parameters.longestWarmUpNanos();
        nextPoll = now;
    }

    /**
     * Starts a warm-up.
     *
     * @param control connection to the other process if it serves queries; null to observe only this process
     */
    public static WarmUp begin(Parameters parameters, @Nullable Control control) {
        return new WarmUp(System.nanoTime(), parameters, () -> {
            try {
                return Processors.compilerTicks() + (control == null ? 0 : control.peerCompilerTicks());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** Starts a warm-up with a given source of ticks, for tests. */
    static WarmUp begin(long now, Parameters parameters, LongSupplier compilerTicks) {
        return new WarmUp(now, parameters, compilerTicks);
    }

    /** Returns whether the warm-up is over. */
    public boolean isOver(long now) {
        if (now >= nextPoll) {
            nextPoll = now + POLL_NANOS;
            long newTicks = compilerTicks.getAsLong();
            if (newTicks != ticks) {
                ticks = newTicks;
                idleSince = now;
            }
        }
        boolean isIdle = now >= earliestEnd && now - idleSince >= IDLE_NANOS;
        isCutShort = !isIdle;
        return isIdle || now >= latestEnd;
    }

    /**
     * Adds whether the compilers were still working when the warm-up ended, in which case the figures differ from those
     * of a long run.
     */
    public void report(Figures figures) {
        figures.add(Figures.STILL_COMPILING, isCutShort ? 1 : 0);
    }
}
