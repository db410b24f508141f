package io.rdma4j.exec.bridge;

import io.rdma4j.verbs.wait.SignalListener;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a file descriptor readable while a source of events has one to take, so that C can wait by {@code poll}. Thread safe.
 *
 * <p>The caller that takes an event, or removes events because their object is closed, calls {@link #update} afterwards. A single
 * consumer never finds the descriptor readable without an event.
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

    /** No descriptors, for objects whose events no program waits for. */
    public static final Descriptors NO_DESCRIPTORS = new Descriptors() {
        @Override
        public void raise(int descriptor) {}

        @Override
        public void lower(int descriptor) {}
    };

    private final Waitable source;
    private final int descriptor;
    private final Descriptors descriptors;

    /** True while the descriptor is readable; under the lock of this object, as the next. */
    private boolean raised;

    private boolean closed;

    /** The driver of the source while a program may wait for an event that it has asked for; null otherwise. */
    private @Nullable WaitDriver driving;

    /** Makes an eventfd of this process follow a source of events. */
    public Readiness(Waitable source, int descriptor) {
        this(source, descriptor, EVENT_DESCRIPTORS);
    }

    /** Makes a descriptor follow a source of events. */
    public Readiness(Waitable source, int descriptor, Descriptors descriptors) {
        this.source = source;
        this.descriptor = descriptor;
        this.descriptors = descriptors;
    }

    /** Begins to follow the source. */
    public void start() {
        source.signal().add(this);
        update();
    }

    @Override
    public void onSignal() {
        update();
    }

    /**
     * Notes that the program has asked for an event, and so is likely to wait for the descriptor. Until the descriptor is readable,
     * the device drives itself: C does not call it while it waits.
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

    /** Makes the descriptor readable or unreadable, if it is not as the source demands. */
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

    /** Ends following the source. When the call returns, the descriptor is no longer used and can be closed. */
    public void close() {
        synchronized (this) {
            closed = true;
            endExpectation();
        }
        source.signal().remove(this);
    }
}
