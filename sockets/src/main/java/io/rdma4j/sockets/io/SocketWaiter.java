package io.rdma4j.sockets.io;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread in one wait. Any thread may wake it, also needlessly; it then checks again whether its wait is over. */
final class SocketWaiter {
    private final Thread thread = Thread.currentThread();
    private volatile boolean signaled;
    private volatile @Nullable CompletionHub leading;

    /** Wakes the thread to check its condition. */
    void signal() {
        signaled = true;
        if (Thread.currentThread().equals(thread)) {
            return; // it is awake
        }
        CompletionHub hub = leading;
        if (hub == null) {
            LockSupport.unpark(thread);
        } else {
            hub.wakeup();
        }
    }

    /** Resets the signal; to be called before the thread checks its condition. */
    void reset() {
        signaled = false;
    }

    boolean isSignaled() {
        return signaled;
    }

    /** Wakes the thread without a signal, to check whether it is to lead. */
    void nudge() {
        LockSupport.unpark(thread);
    }

    void leading(@Nullable CompletionHub hub) {
        leading = hub;
    }

    /** Waits for a signal or nudge until a time of {@link System#nanoTime}, or indefinitely with {@link Long#MAX_VALUE}. */
    void park(long deadlineNanos) {
        if (signaled) {
            return;
        }
        if (deadlineNanos == Long.MAX_VALUE) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, Math.max(1, deadlineNanos - System.nanoTime()));
        }
    }

    /** Returns whether the deadline has passed or the thread is interrupted. */
    static boolean isOver(long deadlineNanos) {
        return Thread.currentThread().isInterrupted()
                || deadlineNanos != Long.MAX_VALUE && System.nanoTime() - deadlineNanos >= 0;
    }
}
