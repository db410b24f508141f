package io.rdma4j.soft.device;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pending request for a completion event. Thread safe.
 *
 * <p>A thread that arms the request checks afterwards for completions that are already in the queue. A thread that adds a
 * completion checks afterwards whether the request is armed. At least one of them therefore sees the other.
 */
final class EventRequest {
    private static final int NONE = 0;
    private static final int SOLICITED = 1;
    private static final int ANY = 2;

    private final AtomicInteger state = new AtomicInteger(NONE);

    /**
     * Requests one event. An earlier request that is still pending is included.
     *
     * @param solicitedOnly true if only a solicited or failed completion causes the event
     */
    void arm(boolean solicitedOnly) {
        if (solicitedOnly) {
            state.compareAndSet(NONE, SOLICITED);
        } else {
            state.set(ANY);
        }
    }

    /**
     * Consumes the request after a completion was added.
     *
     * @return true if the completion matches the request, so an event must be created
     */
    boolean consume(boolean isSolicited) {
        VarHandle.fullFence(); // the completion was added by a plain release
        int requested = state.get();
        while (requested == ANY || requested == SOLICITED && isSolicited) {
            if (state.compareAndSet(requested, NONE)) {
                return true;
            }
            requested = state.get(); // the request was extended meanwhile, or consumed by another completion
        }
        return false;
    }
}
