package io.rdma4j.soft.engine;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs that were posted to while the engine was busy. Many threads ring; the holder of the engine lock drains.
 * Allocates nothing.
 */
final class Doorbells {
    private final AtomicReference<@Nullable DrivenQueuePair> head = new AtomicReference<>();

    boolean isEmpty() {
        return head.get() == null;
    }

    void ring(DrivenQueuePair queuePair) {
        if (!queuePair.ring()) {
            return;
        }
        DrivenQueuePair first;
        do {
            first = head.get();
            queuePair.nextRung = first;
        } while (!head.compareAndSet(first, queuePair));
    }

    /** Passes all queue pairs that rang to a handler. Under the lock of the engine that drains. */
    void drain(Consumer<DrivenQueuePair> handler) {
        if (head.get() == null) {
            return;
        }
        DrivenQueuePair queuePair = head.getAndSet(null);
        while (queuePair != null) {
            DrivenQueuePair next = queuePair.nextRung;
            queuePair.nextRung = null;
            // Before the send queue is checked, so that a later post rings again.
            queuePair.unring();
            handler.accept(queuePair);
            queuePair = next;
        }
    }
}
