package io.rdma4j.soft.device;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether somebody has asked for an event with the next completion. Thread safe.
 *
 * <p>Who asks looks afterwards at what is there already; who adds a completion looks afterwards whether somebody has asked.
 * So one of the two sees the other.
 */
final class EventRequest {
    private static final int NONE = 0;
    private static final int SOLICITED = 1;
    private static final int ANY = 2;

    private final AtomicInteger state = new AtomicInteger(NONE);

    /**
     * Asks for one event. What was asked for before and has not come is included.
     *
     * @param solicitedOnly whether only a solicited completion, or a failed one, counts
     */
    void make(boolean solicitedOnly) {
        if (solicitedOnly) {
            state.compareAndSet(NONE, SOLICITED);
        } else {
            state.set(ANY);
        }
    }

    /**
     * Takes the request, after a completion was added that it may be about.
     *
     * @return whether an event is to be made of it
     */
    boolean take(boolean isSolicited) {
        VarHandle.fullFence(); // the completion was added by a plain release
        int asked = state.get();
        while (asked == ANY || asked == SOLICITED && isSolicited) {
            if (state.compareAndSet(asked, NONE)) {
                return true;
            }
            asked = state.get(); // more was asked for meanwhile, or another completion has taken it
        }
        return false;
    }
}
