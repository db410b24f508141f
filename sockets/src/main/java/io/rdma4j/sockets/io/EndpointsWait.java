package io.rdma4j.sockets.io;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where one thread at a time waits for many endpoints, as a selector does. The endpoints' listeners call {@link #signal};
 * while it waits, the thread drives the device of the first endpoint, and threads of the other devices' hubs drive theirs.
 * {@link #signal} may be called by any thread, the other methods by one at a time.
 */
public final class EndpointsWait {
    /** Says that the wait counts an endpoint's device in; to be taken back by {@link EndpointsWait#leave}. */
    public static final class Membership {
        private final CompletionHub hub;

        private Membership(CompletionHub hub) {
            this.hub = hub;
        }
    }

    /** A device with members here. */
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

    /** To be called before looking whether there is anything to wait for. */
    public void reset() {
        signaled = false;
    }

    /** Whether {@link #signal} was called since {@link #reset}. */
    public boolean isSignaled() {
        return signaled;
    }

    /** Counts the device of an endpoint in; null while it is not connected: then there is no need. */
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

    /** Says whether the thread waits elsewhere, where listeners of the endpoints wake it: others drive all devices then. */
    public void waitsElsewhere(boolean value) {
        elsewhere = value;
        if (!uses.isEmpty()) {
            uses.getFirst().helperThread(value);
        }
    }

    /** Takes {@link #join} back. */
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

    /** Lets the endpoints' listeners hear, without waiting, what has happened since the last wait. */
    public void poll() {
        for (int i = 0; i < uses.size(); i++) {
            uses.get(i).hub.poll();
        }
    }

    /**
     * Waits for a signal, until a time of {@link System#nanoTime} or an interrupt of the thread; maybe shorter.
     *
     * @param deadlineNanos {@link Long#MAX_VALUE} for ever
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
