package io.rdma4j.verbs.wait;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * The part of a device that makes progress while a thread waits for it. Providers implement this; a program uses {@link
 * io.rdma4j.verbs.WaitSet}, or the {@code await} methods of channels and sockets. Thread safe.
 */
public interface WaitDriver {
    /** Timeouts of at least this length are unlimited. */
    Duration CENTURY = Duration.ofDays(36_500);

    /**
     * Waits until a condition holds. Meanwhile the thread drives the device, or leaves this to another waiting thread.
     * A virtual thread parks. Called by {@link Waiter#await(WaitDriver, BooleanSupplier, long)}.
     *
     * @param waiter the calling thread's waiter, a listener of every signal that is raised when {@code done} may change
     * @param done the condition: cheap, and callable by any thread at any time
     * @param deadlineNanos the time of {@link #nanoTime} at which to stop waiting, or {@link Long#MAX_VALUE} to wait
     *     indefinitely
     * @return true if the condition held, even if another thread has changed it since; false after the deadline, or if
     *     the thread is interrupted. Its interrupt status stays set
     * @throws IllegalStateException if the calling thread already drives the device, in a listener of a signal
     * @throws io.rdma4j.verbs.ClosedException if the device's stack is closed before or during the call, and the
     *     condition does not hold
     */
    boolean driveUntil(Waiter waiter, BooleanSupplier done, long deadlineNanos);

    /** Makes a thread in {@link #driveUntil} check its condition again. Does not wait. */
    void wake(Waiter waiter);

    /**
     * Drives the device once, without waiting. Has no effect while another thread drives it.
     *
     * @return true if input was received
     */
    boolean poll();

    /**
     * Announces that a thread may wait for this device without calling it, for example in {@code poll(2)}. Until
     * {@link #endOutsideWait}, the device drives itself, as for virtual threads. The calls may overlap. The method does
     * not wait, and can be called in a listener of a signal. A device that needs no thread to make progress ignores it.
     */
    default void beginOutsideWait() {}

    /** Ends the wait that {@link #beginOutsideWait} announced. */
    default void endOutsideWait() {}

    /**
     * Runs a task soon that must not run in a listener of a signal. It runs in a virtual thread, or, in virtual time,
     * in the next waiting thread. Callable in a listener.
     */
    default void execute(Runnable task) {
        Thread.ofVirtual().name("rdma4j-task").start(task);
    }

    /** Returns the time of the clock of deadlines, in nanoseconds. The clock is unrelated to other clocks. */
    long nanoTime();

    /**
     * Returns whether the time of {@link #nanoTime} passes only while a thread waits, as in tests in virtual time. A
     * library's threads must not wait for such a device: they would advance the program's clock.
     */
    default boolean isInVirtualTime() {
        return false;
    }

    /** Returns the time of {@link #nanoTime} after a timeout, or {@link Long#MAX_VALUE} for a century or more. */
    default long deadlineNanos(Duration timeout) {
        return timeout.compareTo(CENTURY) >= 0 ? Long.MAX_VALUE : nanoTime() + timeout.toNanos();
    }
}
