package io.rdma4j.soft.host;

import java.util.function.BooleanSupplier;

/**
 * Drives the engines of a virtual network in virtual time, in place of threads. A stack that has a driver starts no threads, and a
 * thread that waits runs the driver.
 */
public interface StackDriver {
    /**
     * Lets each engine of the network run a duty cycle. If none received a frame, advances the clock to the next deadline of
     * an engine, but not beyond {@code limitNanos}.
     *
     * @param limitNanos a time of the network's clock, or {@link Long#MAX_VALUE}
     * @throws IllegalStateException if no engine has a deadline and there is no limit: nothing would ever happen again
     */
    void step(long limitNanos);

    /** Runs a task in the thread that calls {@link #step} next, before the engines. Callable during a step. */
    void execute(Runnable task);

    /**
     * Runs until a condition holds.
     *
     * @param clock the network's clock
     * @param deadlineNanos the time at which to stop, or {@link Long#MAX_VALUE} to run indefinitely
     * @return the condition: false after the deadline, or if the thread is interrupted
     */
    default boolean await(StackClock clock, BooleanSupplier done, long deadlineNanos) {
        while (!done.getAsBoolean()) {
            if (Thread.currentThread().isInterrupted()
                    || deadlineNanos != Long.MAX_VALUE && clock.nanoTime() - deadlineNanos >= 0) {
                return done.getAsBoolean();
            }
            step(deadlineNanos);
        }
        return true;
    }
}
