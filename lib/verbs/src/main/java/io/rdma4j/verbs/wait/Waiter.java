package io.rdma4j.verbs.wait;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for signals, in one thread at a time. Any thread may signal a waiter. Only the waiting thread calls the other
 * methods.
 *
 * <p>A waiter that is added to the signals of several objects waits for all of them:
 *
 * <pre>{@code
 * while (true) {
 *     waiter.reset();
 *     if (isAnyReady()) {
 *         return;
 *     }
 *     waiter.await(driver, deadlineNanos);
 * }
 * }</pre>
 */
public final class Waiter implements SignalListener {
    private final BooleanSupplier isSignaled = this::isSignaled;
    private volatile boolean yields;
    private volatile boolean signaled;
    private volatile @Nullable WaitDriver driver;
    private volatile @Nullable Thread thread;

    /** Creates a waiter for data. It does not yield. */
    public Waiter() {
        this(false);
    }

    /**
     * Creates a waiter.
     *
     * @param yields true if the waiting thread leaves the device to other threads while they wait or poll. This suits
     *     waits for rare events, such as connection events: the threads that wait for data then drive the device
     *     themselves
     */
    public Waiter(boolean yields) {
        this.yields = yields;
    }

    /** Changes whether the waiting thread leaves the device to other threads; see {@link #Waiter(boolean)}. */
    public void yields(boolean value) {
        yields = value;
    }

    /** Returns whether the waiting thread leaves the device to other threads while they wait or poll. */
    public boolean yields() {
        return yields;
    }

    /** Returns the thread that waits now, or null. */
    public @Nullable Thread thread() {
        return thread;
    }

    @Override
    public void onSignal() {
        signaled = true;
        wake();
    }

    /**
     * Makes the waiting thread check its condition again, wherever it is blocked. The current thread needs no wakeup.
     */
    public void wake() {
        Thread waiting = thread;
        if (waiting == null || waiting.equals(Thread.currentThread())) {
            return;
        }
        LockSupport.unpark(waiting);
        WaitDriver current = driver;
        if (current != null) {
            current.wake(this);
        }
    }

    /** Resets the signal. The caller checks its condition after this call. */
    public void reset() {
        signaled = false;
    }

    /** Returns whether the waiter has been signaled since {@link #reset}. */
    public boolean isSignaled() {
        return signaled;
    }

    /**
     * Waits for a signal.
     *
     * @param chosen drives the device meanwhile
     * @param deadlineNanos the time of {@link WaitDriver#nanoTime} at which to stop waiting, or {@link Long#MAX_VALUE}
     * @return false after the deadline, or if the thread is interrupted; its interrupt status stays set
     */
    public boolean await(WaitDriver chosen, long deadlineNanos) {
        return await(chosen, isSignaled, deadlineNanos);
    }

    /**
     * Waits until a condition holds.
     *
     * @param chosen drives the device meanwhile
     * @param done the condition: cheap, and callable by any thread at any time
     * @param deadlineNanos the time of {@link WaitDriver#nanoTime} at which to stop waiting, or {@link Long#MAX_VALUE}
     * @return the condition: false after the deadline, or if the thread is interrupted; its interrupt status stays set
     */
    public boolean await(WaitDriver chosen, BooleanSupplier done, long deadlineNanos) {
        driver = chosen;
        thread = Thread.currentThread();
        try {
            return done.getAsBoolean() || chosen.driveUntil(this, done, deadlineNanos);
        } finally {
            thread = null;
            driver = null;
        }
    }
}
