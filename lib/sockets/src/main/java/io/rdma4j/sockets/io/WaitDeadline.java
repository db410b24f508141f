package io.rdma4j.sockets.io;

import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * The deadline of a wait for several sockets. The stack of the sockets becomes known only when they are polled, so the
 * deadline is converted when the clock changes. Used by one thread at a time.
 */
public final class WaitDeadline {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private WaitDriver clock = SystemTime.PARKING;

    /** A time of the clock, or the timeout until it has started. */
    private long nanos = Long.MAX_VALUE;

    private boolean hasBegun;

    /** Creates a deadline that never passes. */
    public WaitDeadline() {}

    /**
     * Sets a timeout, which starts with the next call of {@link #use}.
     *
     * @param timeoutNanos the maximum time to wait, or {@link Long#MAX_VALUE} to wait indefinitely
     */
    public void start(long timeoutNanos) {
        nanos = timeoutNanos;
        hasBegun = false;
    }

    /**
     * Uses the clock of a driver, after the sockets were polled. If the clock changes, the remaining time stays the
     * same.
     *
     * @param driver drives the sockets; null if none of them uses a device
     */
    public void use(@Nullable WaitDriver driver) {
        WaitDriver next = driver == null ? SystemTime.PARKING : driver;
        if (hasBegun && next.equals(clock)) {
            return;
        }
        if (nanos != Long.MAX_VALUE) {
            nanos = next.nanoTime() + (hasBegun ? nanos - clock.nanoTime() : nanos);
        }
        clock = next;
        hasBegun = true;
    }

    /** Returns whether the deadline has passed. */
    public boolean isOver() {
        return nanos != Long.MAX_VALUE && clock.nanoTime() - nanos >= 0;
    }

    /**
     * Returns the remaining time for {@link java.nio.channels.Selector#select(long)}: at least 1 ms, or 0 for no
     * timeout.
     */
    public long selectMillis() {
        return nanos == Long.MAX_VALUE
                ? 0
                : Math.max(1, (nanos - clock.nanoTime() + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
    }

    /**
     * Waits until a waiter is signaled.
     *
     * @return false after the deadline, or if the thread is interrupted; its interrupt status stays set
     */
    public boolean await(Waiter waiter) {
        return waiter.await(clock, nanos);
    }
}
