package io.rdma4j.hardware.cm;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The progress of an identifier as this process knows it, for messages and for the end of a connection. The kernel's
 * state decides which calls are allowed. Thread safe.
 */
final class IdProgress {
    /** The stages of an identifier. */
    enum Stage {
        IDLE,
        BOUND,
        RESOLVING_ADDRESS,
        ADDRESS_RESOLVED,
        RESOLVING_ROUTE,
        ROUTE_RESOLVED,
        LISTENING,
        REQUESTED,
        CONNECTING,
        ACCEPTED,
        CONNECTED,
        DISCONNECTED,
        ENDED,
        DEVICE_REMOVED,
        CLOSED
    }

    private final AtomicReference<Stage> stage;

    /** The stage before the call in progress, or null; set by the application's calls, one at a time. */
    private volatile @Nullable Stage before;

    IdProgress(Stage first) {
        stage = new AtomicReference<>(first);
    }

    Stage stage() {
        return stage.get();
    }

    /** Returns the stage for the message of a call that fails: the stage before the call. */
    Stage stageBeforeCall() {
        Stage earlier = before;
        return earlier == null ? stage.get() : earlier;
    }

    /** Enters a stage, unless the identifier is closed. */
    void enter(Stage next) {
        stage.updateAndGet(current -> current == Stage.CLOSED ? current : next);
    }

    /**
     * Enters a stage and then makes the call, which can cause events. If the call fails, restores the previous stage,
     * unless an event has changed the stage meanwhile.
     *
     * @throws io.rdma4j.verbs.RdmaException if the call fails
     */
    void during(Stage next, Runnable call) {
        Stage earlier = stage.get();
        before = earlier;
        enter(next);
        boolean hasSucceeded = false;
        try {
            call.run();
            hasSucceeded = true;
        } finally {
            before = null;
            if (!hasSucceeded) {
                stage.compareAndSet(next, earlier);
            }
        }
    }

    /** Closes; returns false if it was closed before. */
    boolean close() {
        return stage.getAndSet(Stage.CLOSED) != Stage.CLOSED;
    }
}
