package io.rdma4j.hardware.cm;

import java.util.concurrent.atomic.AtomicReference;

/**
 * How far an identifier has come, as this process knows it: for messages, and for the end of a connection. The kernel's own
 * state decides what is allowed. Thread safe.
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

    IdProgress(Stage first) {
        stage = new AtomicReference<>(first);
    }

    Stage stage() {
        return stage.get();
    }

    /** Enters a stage, unless the identifier is closed. */
    void enter(Stage next) {
        stage.updateAndGet(current -> current == Stage.CLOSED ? current : next);
    }

    /** Goes back to a stage, unless an event has changed the stage meanwhile. */
    void leave(Stage current, Stage before) {
        stage.compareAndSet(current, before);
    }

    /**
     * Enters a stage for a call, before an event can follow from it, and goes back if the call fails.
     *
     * @throws io.rdma4j.verbs.RdmaException that of the call
     */
    void during(Stage next, Runnable call) {
        Stage before = stage.get();
        enter(next);
        boolean hasSucceeded = false;
        try {
            call.run();
            hasSucceeded = true;
        } finally {
            if (!hasSucceeded) {
                leave(next, before);
            }
        }
    }

    /** Closes; returns false if it was closed before. */
    boolean close() {
        return stage.getAndSet(Stage.CLOSED) != Stage.CLOSED;
    }
}
