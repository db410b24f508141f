package io.rdma4j.soft.engine;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs that were posted to while the engine was busy: many threads ring, the holder of the engine lock takes all.
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

    /** Takes all that rang. Under the lock of the engine that takes. */
    void take(Consumer<DrivenQueuePair> taker) {
        if (head.get() == null) {
            return;
        }
        DrivenQueuePair queuePair = head.getAndSet(null);
        while (queuePair != null) {
            DrivenQueuePair next = queuePair.nextRung;
            queuePair.nextRung = null;
            // Before the queue is looked at, so that a post that comes after the look rings again.
            queuePair.unring();
            taker.accept(queuePair);
            queuePair = next;
        }
    }
}
