package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * The source of a queue pair's receives: its own receive queue or a shared one. The target of extended connections uses
 * the shared queue that each request names.
 *
 * <p>A receive taken from a shared queue is held until it is completed: across all packets of a message, and when a
 * message is dropped also for the next one. It then belongs to this queue pair, and no other queue pair waits for it
 * (decision 010).
 */
final class ReceiveSource {
    private static final CompletionSink DISCARD = completion -> {};

    private final ReceiveQueue ownQueue;
    private final @Nullable XrcDomain extendedDomain;
    private final int ownDomain;

    /** Shared queue that receives are currently taken from, or null. */
    private @Nullable SharedReceiveQueue shared;

    /** Receive taken from {@link #shared} and not yet completed. */
    private @Nullable ReceiveRequest held;

    ReceiveSource(ReceiveQueue ownQueue, QueuePairMachine.Configuration configuration) {
        this.ownQueue = ownQueue;
        ownDomain = configuration.protectionDomain();
        shared = configuration.sharedReceives();
        extendedDomain = configuration.extendedDomain();
    }

    /** Returns whether receives come from shared queues. */
    boolean isShared() {
        return shared != null || extendedDomain != null;
    }

    /** Returns whether each request names its shared queue. */
    boolean isExtended() {
        return extendedDomain != null;
    }

    /**
     * Selects the shared queue with a number, for the target of extended connections.
     *
     * @return {@code true} if the domain has this queue
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

    /** Returns the protection domain of the receives' memory: that of the queue they were posted to. */
    int protectionDomain() {
        SharedReceiveQueue source = shared;
        return source == null ? ownDomain : source.protectionDomain();
    }

    /**
     * Returns the protection domain of the memory that the peer accesses: the queue pair's, or for extended connections
     * that of the named queue.
     */
    int remoteProtectionDomain() {
        return extendedDomain == null ? ownDomain : protectionDomain();
    }

    /** Returns the sink for completions of receives. */
    CompletionSink completions(CompletionSink queuePairSink) {
        SharedReceiveQueue source = shared;
        CompletionSink queueSink = source == null ? null : source.completions();
        if (queueSink == null || source == null) {
            return queuePairSink;
        }
        return source.isClosed() ? DISCARD : queueSink;
    }

    /**
     * Returns the receive of the current message, or null if none is posted. Takes one from the shared queue if none is
     * held.
     */
    @Nullable
    ReceiveRequest current() {
        SharedReceiveQueue source = shared;
        if (source == null) {
            return ownQueue.peek();
        }
        if (held == null) {
            held = source.take();
        }
        return held;
    }

    /** Returns the oldest receive that this queue pair has to complete, or null. Takes nothing from a shared queue. */
    @Nullable
    ReceiveRequest posted() {
        return isShared() ? held : ownQueue.peek();
    }

    /** Releases the slot of {@link #current} after its completion. */
    void release() {
        SharedReceiveQueue source = shared;
        ReceiveRequest completed = held;
        if (source == null) {
            ownQueue.release();
        } else if (completed != null) {
            held = null;
            source.release(completed);
        }
    }

    /** Discards all receives posted to this queue pair and the one that it holds. */
    void clear() {
        ownQueue.clear();
        if (held != null) {
            release();
        }
        if (extendedDomain != null) {
            shared = null;
        }
    }
}
