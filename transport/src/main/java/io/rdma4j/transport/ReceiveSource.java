package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * Where the messages of a queue pair go: the receives of its own queue, or those that it takes from a shared one; the
 * target of extended connections takes them from the shared queue that each request names.
 *
 * <p>A receive that was taken from a shared queue is held until it is completed: through all packets of a message, and
 * beyond a message that was dropped. It belongs to this queue pair then, and nobody else waits behind it.
 */
final class ReceiveSource {
    private static final CompletionSink NOBODY = completion -> {};

    private final ReceiveQueue own;
    private final @Nullable XrcDomain extendedDomain;
    private final int ownDomain;

    /** The shared queue that receives are taken from now, or null. */
    private @Nullable SharedReceiveQueue shared;

    /** What was taken from {@link #shared} and is not completed. */
    private @Nullable ReceiveRequest held;

    ReceiveSource(ReceiveQueue own, QueuePairMachine.Configuration configuration) {
        this.own = own;
        ownDomain = configuration.protectionDomain();
        shared = configuration.sharedReceives();
        extendedDomain = configuration.extendedDomain();
    }

    /** Whether receives come from elsewhere than the own queue. */
    boolean isShared() {
        return shared != null || extendedDomain != null;
    }

    /** Whether each request names its shared queue. */
    boolean isExtended() {
        return extendedDomain != null;
    }

    /**
     * Target of extended connections: takes receives from the queue of a number from now on.
     *
     * @return whether the domain has it
     */
    boolean select(int number) {
        SharedReceiveQueue current = shared;
        XrcDomain domain = extendedDomain;
        if (current != null && current.number() == number && !current.isClosed()) {
            return true;
        }
        SharedReceiveQueue next = domain == null ? null : domain.find(number);
        if (next == null || held != null) {
            return false;
        }
        shared = next;
        return true;
    }

    /** Domain of the receives' memory: that of the queue they were posted to. */
    int protectionDomain() {
        SharedReceiveQueue source = shared;
        return source == null ? ownDomain : source.protectionDomain();
    }

    /** Domain of the memory that the peer reaches: the queue pair's, or that of the queue that a request names. */
    int remoteProtectionDomain() {
        return extendedDomain == null ? ownDomain : protectionDomain();
    }

    /** Where the completions of receives go. */
    CompletionSink completions(CompletionSink ofQueuePair) {
        SharedReceiveQueue source = shared;
        CompletionSink ofQueue = source == null ? null : source.completions();
        if (ofQueue == null || source == null) {
            return ofQueuePair;
        }
        return source.isClosed() ? NOBODY : ofQueue;
    }

    /** The receive of the message at hand, taken from the shared queue if none is held yet; null if none is posted. */
    @Nullable
    ReceiveRequest current() {
        SharedReceiveQueue source = shared;
        if (source == null) {
            return own.peek();
        }
        if (held == null) {
            held = source.take();
        }
        return held;
    }

    /** The oldest receive that is this queue pair's to complete, or null; takes nothing from a shared queue. */
    @Nullable
    ReceiveRequest posted() {
        return isShared() ? held : own.peek();
    }

    /** Gives the place of {@link #current} back; it is completed. */
    void release() {
        SharedReceiveQueue source = shared;
        ReceiveRequest done = held;
        if (source == null) {
            own.release();
        } else if (done != null) {
            held = null;
            source.giveBack(done);
        }
    }

    /** Forgets everything posted to this queue pair, and what it holds. */
    void clear() {
        own.clear();
        if (held != null) {
            release();
        }
        if (extendedDomain != null) {
            shared = null;
        }
    }
}
