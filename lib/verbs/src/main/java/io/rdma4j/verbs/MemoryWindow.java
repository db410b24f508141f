package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;

/**
 * A separate key, with separate rights, for a part of a memory region. Work requests bind and invalidate it, which
 * costs much less than registering memory. C: {@code struct ibv_mw}. Thread safe.
 *
 * <p>{@link SendWorkRequest#bind}, posted on a reliable or unreliable connection of its domain, binds it to a region
 * that was registered with {@link AccessFlag#MEMORY_WINDOW_BIND}. Peers then access that part with {@link #remoteKey}.
 *
 * <table>
 * <caption>The types</caption>
 * <tr><th></th><th>type 1</th><th>type 2</th></tr>
 * <tr><td>accessible to</td><td>peers of all queue pairs of the domain</td><td>the peer of the queue pair that bound
 * it (type 2B of the specification, like Linux rxe)</td></tr>
 * <tr><td>rebinding</td><td>moves it</td><td>only while it is unbound</td></tr>
 * <tr><td>invalidated by</td><td>unbinding it</td><td>{@link SendWorkRequest#localInvalidate}, the peer's SEND
 * with invalidate, or a reset of the queue pair</td></tr>
 * <tr><td>addresses</td><td>the region's</td><td>the region's, or from 0 with {@link AccessFlag#ZERO_BASED}</td></tr>
 * </table>
 * <p>A window of type 1 is accessible through several queue pairs. After its binding to another part, or to nothing,
 * has completed, the queue pair that bound it no longer serves requests with the old key. A queue pair with another
 * completion vector may still be processing a packet that it received earlier. To avoid this, use a single completion
 * vector or a window of type 2, or {@link #close} the window, which waits until no such packet is being processed.
 */
public interface MemoryWindow extends AutoCloseable {
    /** Types of windows. C: {@code enum ibv_mw_type}. */
    enum Type {
        /** For all queue pairs of the domain. */
        TYPE_1(1),
        /** For one queue pair at a time. */
        TYPE_2(2);

        private final int code;

        Type(int code) {
            this.code = code;
        }

        /** Returns the numeric value of {@code ibv_mw_type}. */
        public int code() {
            return code;
        }
    }

    /** Returns the protection domain of this object. */
    ProtectionDomain protectionDomain();

    /** Returns the type. */
    Type type();

    /**
     * Returns the key for the peer: the key of the last binding that the device has executed. The upper 24 bits never
     * change. C: {@code rkey}.
     */
    int remoteKey();

    /**
     * Returns a key for the next binding: {@link #remoteKey} with its lower 8 bits incremented. C: {@code
     * ibv_inc_rkey}.
     */
    default int nextRemoteKey() {
        int key = remoteKey();
        return key & ~0xff | key + 1 & 0xff;
    }

    /**
     * Deallocates the window. When the call returns, no peer can access memory through it. Closing the window again has
     * no effect. C: {@code ibv_dealloc_mw}.
     */
    @Override
    void close();
}
