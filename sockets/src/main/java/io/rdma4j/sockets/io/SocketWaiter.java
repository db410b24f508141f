package io.rdma4j.sockets.io;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One thread in one wait. It may be woken by any thread, more often than needed; then it looks whether its wait is over. */
final class SocketWaiter {
    private final Thread thread = Thread.currentThread();
    private volatile boolean signaled;
    private volatile @Nullable CompletionHub leading;

    /** Lets the thread look. */
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

    /** To be called before looking whether the wait is over. */
    void reset() {
        signaled = false;
    }

    boolean isSignaled() {
        return signaled;
    }

    /** Wakes the thread without a signal: it is to look who leads. */
    void nudge() {
        LockSupport.unpark(thread);
    }

    void leading(@Nullable CompletionHub hub) {
        leading = hub;
    }

    /** Waits for a signal or nudge, until a time of {@link System#nanoTime}; {@link Long#MAX_VALUE} for ever. */
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

    /** Whether the wait is over because of the time, or because the thread is interrupted. */
    static boolean isOver(long deadlineNanos) {
        return Thread.currentThread().isInterrupted()
                || deadlineNanos != Long.MAX_VALUE && System.nanoTime() - deadlineNanos >= 0;
    }
}
