package io.rdma4j.exec.bridge;

import io.rdma4j.verbs.wait.SignalListener;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a file descriptor readable while a source has events, so that C can wait for them by {@code poll}. Thread safe.
 *
 * <p>A caller that takes an event, or removes events by closing their object, must call {@link #update} afterwards. If
 * there is only one consumer, it never finds the descriptor readable without an event.
 */
public final class Readiness implements SignalListener {
    /** The operations on a descriptor; {@link EventDescriptor} except in tests. */
    public interface Descriptors {
        /** Makes a descriptor readable. */
        void raise(int descriptor);

        /** Makes a descriptor unreadable. */
        void lower(int descriptor);
    }

    /** The descriptors of this process. */
    public static final Descriptors EVENT_DESCRIPTORS = new Descriptors() {
        @Override
        public void raise(int descriptor) {
            EventDescriptor.raise(descriptor);
        }

        @Override
        public void lower(int descriptor) {
            EventDescriptor.lower(descriptor);
        }
    };

    /** Does nothing, for objects without a descriptor. */
    public static final Descriptors NO_DESCRIPTORS = new Descriptors() {
        @Override
        public void raise(int descriptor) {}

        @Override
        public void lower(int descriptor) {}
    };

    private final Waitable source;
    private final int descriptor;
    private final Descriptors descriptors;

    // Guarded by this.
    private boolean raised;

    private boolean closed;

    /** The driver of the source while the program may wait for an event that it has requested; otherwise null. */
    private @Nullable WaitDriver driving;

    /** Creates an object for an eventfd of this process. {@link #start} starts it. */
    public Readiness(Waitable source, int descriptor) {
        this(source, descriptor, EVENT_DESCRIPTORS);
    }

    /** Creates an object for a descriptor. {@link #start} starts it. */
    public Readiness(Waitable source, int descriptor, Descriptors descriptors) {
        this.source = source;
        this.descriptor = descriptor;
        this.descriptors = descriptors;
    }

    /** Starts to update the descriptor. */
    public void start() {
        source.signal().add(this);
        update();
    }

    @Override
    public void onSignal() {
        update();
    }

    /**
     * Notes that the program has requested an event, and is therefore likely to wait for the descriptor. Until the
     * descriptor is readable, the device drives itself, because C does not call it while it waits.
     */
    public synchronized void expect() {
        if (driving == null && !raised && !closed) {
            WaitDriver driver = source.waitDriver();
            driver.beginOutsideWait();
            driving = driver;
        }
    }

    private void endExpectation() {
        WaitDriver driver = driving;
        if (driver != null) {
            driving = null;
            driver.endOutsideWait();
        }
    }

    /** Makes the descriptor readable if the source has events, otherwise unreadable. */
    public synchronized void update() {
        if (closed) {
            return;
        }
        boolean ready = source.isReady();
        if (ready == raised) {
            return;
        }
        raised = ready;
        if (ready) {
            endExpectation();
            descriptors.raise(descriptor);
        } else {
            descriptors.lower(descriptor);
        }
    }

    /** Stops updating the descriptor. When the call returns, it is no longer used and can be closed. */
    public void close() {
        synchronized (this) {
            closed = true;
            endExpectation();
        }
        source.signal().remove(this);
    }
}
