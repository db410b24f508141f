package io.rdma4j.exec.bridge;

/** Raises and lowers eventfds by their descriptors. The C library registers the native methods before it calls Java. */
public final class EventDescriptor {
    private EventDescriptor() {}

    /** Makes the descriptor readable. C: a write of 1. Does not block. */
    public static native void raise(int descriptor);

    /** Makes the descriptor unreadable. C: a read that does not block. */
    public static native void lower(int descriptor);
}
