package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** Parks threads that wait for an object without a device. */
public final class ParkingDriver implements WaitDriver {
    private final LongSupplier clock;

    /**
     * Creates a driver.
     *
     * @param clock the clock of the deadlines, in nanoseconds
     */
    public ParkingDriver(LongSupplier clock) {
        this.clock = clock;
    }

    @Override
    public boolean driveUntil(Waiter waiter, BooleanSupplier done, long deadlineNanos) {
        while (!done.getAsBoolean()) {
            long remainingNanos = deadlineNanos == Long.MAX_VALUE ? Long.MAX_VALUE : deadlineNanos - nanoTime();
            if (remainingNanos <= 0 || Thread.currentThread().isInterrupted()) {
                return done.getAsBoolean();
            }
            LockSupport.parkNanos(waiter, remainingNanos);
        }
        return true;
    }

    @Override
    public void wake(Waiter waiter) {}

    @Override
    public boolean poll() {
        return false;
    }

    @Override
    public long nanoTime() {
        return clock.getAsLong();
    }
}
