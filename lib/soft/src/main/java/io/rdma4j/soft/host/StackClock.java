package io.rdma4j.soft.host;

/** The clock of a stack: all its protocol timers, waits and timestamps use it. Implementations are thread safe. */
public interface StackClock {
    /** The clock of the system. */
    StackClock SYSTEM = new SystemClock();

    /** Returns monotonic time in nanoseconds, like {@link System#nanoTime}; only differences are meaningful. */
    long nanoTime();

    /** Returns the time of day in nanoseconds since 1970 (UTC). */
    long epochNanos();
}
