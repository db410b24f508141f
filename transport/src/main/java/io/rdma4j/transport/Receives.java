package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * Where the messages of a queue pair go: the receives of its own queue, or those that it takes from a shared one.
 *
 * <p>A receive that was taken from a shared queue is held until it is completed: through all packets of a message, and
 * beyond a message that was dropped. It belongs to this queue pair then, and nobody else waits behind it.
 */
final class Receives {
    private final ReceiveQueue own;
    private final @Nullable SharedReceiveQueue shared;
    private final int protectionDomain;

    /** What was taken from the shared queue and is not completed. */
    private @Nullable ReceiveRequest held;

    /** What is left in the shared queue in exchange for the next receive. */
    private ReceiveRequest spare;

    Receives(ReceiveQueue own, int protectionDomain) {
        this.own = own;
        this.protectionDomain = protectionDomain;
        shared = null;
        spare = new ReceiveRequest(0);
    }

    Receives(ReceiveQueue own, SharedReceiveQueue shared) {
        this.own = own;
        this.shared = shared;
        protectionDomain = shared.protectionDomain();
        spare = shared.newRequest();
    }

    boolean isShared() {
        return shared != null;
    }

    /** Domain of the receives' memory: that of the queue they were posted to. */
    int protectionDomain() {
        return protectionDomain;
    }

    /** The receive of the message at hand, taken from the shared queue if none is held yet; null if none is posted. */
    @Nullable
    ReceiveRequest current() {
        SharedReceiveQueue source = shared;
        if (source == null) {
            return own.peek();
        }
        if (held == null) {
            held = source.take(spare);
        }
        return held;
    }

    /** The oldest receive that is this queue pair's to complete, or null; takes nothing from a shared queue. */
    @Nullable
    ReceiveRequest posted() {
        return shared == null ? own.peek() : held;
    }

    /** Gives the place of {@link #current} back; it is completed. */
    void release() {
        if (shared == null) {
            own.release();
        } else if (held != null) {
            spare = held;
            held = null;
        }
    }

    /** Forgets everything posted to this queue pair, and what it holds. */
    void clear() {
        own.clear();
        if (held != null) {
            release();
        }
    }
}
