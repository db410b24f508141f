package io.rdma4j.bench.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How long a measurement runs before its clock counts: until the compilers of the Java virtual machines have had nothing to
 * do for a while, because on a machine of two processors they compete with the two threads that are to be measured, and
 * until they are done those run code that is many times slower. Not thread safe.
 */
public final class WarmUp {
    /** How often the compilers are looked at. */
    static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(350);

    private final LongSupplier compilerTicks;
    private final long least;
    private final long most;
    private long lookNext;
    private long idleSince;
    private long ticks = -1;

    private WarmUp(long now, Parameters parameters, LongSupplier compilerTicks) {
        this.compilerTicks = compilerTicks;
        least = now + parameters.warmUpNanos();
        most = now + parameters.longestWarmUpNanos();
        lookNext = now;
    }

    /**
     * Begins now.
     *
     * @param control to the other process, if that answers by now; otherwise this process alone tells
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

    /** With a given source of ticks: for tests. */
    static WarmUp begin(long now, Parameters parameters, LongSupplier compilerTicks) {
        return new WarmUp(now, parameters, compilerTicks);
    }

    /** Whether it is over. */
    public boolean isOver(long now) {
        if (now >= lookNext) {
            lookNext = now + LOOK_NANOS;
            long seen = compilerTicks.getAsLong();
            if (seen != ticks) {
                ticks = seen;
                idleSince = now;
            }
        }
        return now >= most || now >= least && now - idleSince >= IDLE_NANOS;
    }
}
