package io.rdma4j.sockets.io;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A wait of one thread at a time for many endpoints, as of a selector. The endpoints' listeners call {@link #signal}. The waiting
 * thread drives the device of the first endpoint, and helper threads drive the other devices. {@link #signal} may be called by any
 * thread, the other methods by one thread at a time.
 */
public final class EndpointsWait {
    /** The use of an endpoint's device by the wait, until {@link EndpointsWait#leave}. */
    public static final class Membership {
        private final CompletionHub hub;

        private Membership(CompletionHub hub) {
            this.hub = hub;
        }
    }

    /** A device that endpoints of the wait use. */
    private static final class Use {
        private final CompletionHub hub;
        private int members;
        private CompletionHub.@Nullable HelperThread helperThread;

        Use(CompletionHub hub) {
            this.hub = hub;
        }

        void helperThread(boolean wanted) {
            if (wanted && helperThread == null) {
                helperThread = hub.helperThread();
            } else if (!wanted && helperThread != null) {
                helperThread.end();
                helperThread = null;
            }
        }
    }

    private final List<Use> uses = new ArrayList<>();
    private boolean elsewhere;
    private volatile boolean signaled;
    private volatile @Nullable SocketWaiter waiting;

    /** Creates a wait for no endpoints. */
    public EndpointsWait() {}

    /** Ends the wait that goes on, or the next one. */
    public void signal() {
        signaled = true;
        SocketWaiter waiter = waiting;
        if (waiter != null) {
            waiter.signal();
        }
    }

    /** Resets the signal; to be called before the caller checks its condition. */
    public void reset() {
        signaled = false;
    }

    /** Returns whether {@link #signal} was called since {@link #reset}. */
    public boolean isSignaled() {
        return signaled;
    }

    /** Adds the device of an endpoint to the wait; returns null if the endpoint is not connected and has no device yet. */
    public @Nullable Membership join(Waitable endpoint) {
        CompletionHub hub = endpoint.hub();
        if (hub == null) {
            return null;
        }
        for (Use use : uses) {
            if (use.hub == hub) {
                use.members++;
                return new Membership(hub);
            }
        }
        Use use = new Use(hub);
        use.members = 1;
        uses.add(use);
        use.helperThread(elsewhere || uses.size() > 1);
        return new Membership(hub);
    }

    /** Sets whether the thread waits elsewhere, where listeners of the endpoints wake it; then helper threads drive all devices. */
    public void waitsElsewhere(boolean value) {
        elsewhere = value;
        if (!uses.isEmpty()) {
            uses.getFirst().helperThread(value);
        }
    }

    /** Removes a device that {@link #join} added. */
    public void leave(Membership membership) {
        for (int i = 0; i < uses.size(); i++) {
            Use use = uses.get(i);
            if (use.hub == membership.hub && --use.members == 0) {
                use.helperThread(false);
                uses.remove(i);
                if (i == 0 && !uses.isEmpty()) {
                    uses.getFirst().helperThread(elsewhere);
                }
                return;
            }
        }
    }

    /** Handles pending completions without waiting, and so calls the endpoints' listeners. */
    public void poll() {
        for (int i = 0; i < uses.size(); i++) {
            uses.get(i).hub.poll();
        }
    }

    /**
     * Waits for a signal, the deadline or an interrupt of the thread; may return early.
     *
     * @param deadlineNanos a time of {@link System#nanoTime}, or {@link Long#MAX_VALUE} to wait indefinitely
     */
    public void await(long deadlineNanos) {
        SocketWaiter waiter = new SocketWaiter();
        waiting = waiter;
        try {
            if (signaled || SocketWaiter.isOver(deadlineNanos)) {
                return;
            }
            if (uses.isEmpty()) {
                waiter.park(deadlineNanos);
            } else {
                uses.getFirst().hub.await(waiter, deadlineNanos);
            }
        } finally {
            waiting = null;
        }
    }
}
