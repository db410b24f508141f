package io.rdma4j.verbs;

/**
 * A key of its own, with rights of its own, for a part of a memory region; given and taken back by work requests, which
 * costs much less than registering memory. C: {@code struct ibv_mw}. Thread safe.
 *
 * <p>It is bound by {@link SendWorkRequest#bind} on a reliable or unreliable connection of its domain, to a region that
 * was registered with {@link AccessFlag#MEMORY_WINDOW_BIND}. Peers then reach that part with {@link #remoteKey}.
 *
 * <table>
 * <caption>The types</caption>
 * <tr><th></th><th>type 1</th><th>type 2</th></tr>
 * <tr><td>who reaches it</td><td>peers of all queue pairs of the domain</td><td>the peer of the queue pair that bound
 * it (2B of the specification, as on Linux rxe)</td></tr>
 * <tr><td>binding again</td><td>moves it</td><td>only while it is free</td></tr>
 * <tr><td>taking it back</td><td>binding it to nothing</td><td>{@link SendWorkRequest#localInvalidate}, the peer's SEND
 * with invalidate, or a reset of the queue pair</td></tr>
 * <tr><td>addresses</td><td>those of the region</td><td>those of the region, or from 0 with {@link
 * AccessFlag#ZERO_BASED}</td></tr>
 * </table>
 *
 * <p>A window of type 1 is reached through several queue pairs. When its binding to another part, or to nothing, is
 * complete, the queue pair that did it serves no request under the old key any more; one with another completion vector
 * may still be at a packet that came before. Where this matters, use one completion vector or a window of type 2, or
 * {@link #close} the window, which waits until nobody is at such a packet.
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

    /** Type. */
    Type type();

    /**
     * Key for the peer: that of the last binding which the device has done. The upper 24 bits never change. C: {@code
     * rkey}.
     */
    int remoteKey();

    /** A key to bind it with next: the lower 8 bits of {@link #remoteKey}, plus one. C: {@code ibv_inc_rkey}. */
    default int nextRemoteKey() {
        int key = remoteKey();
        return key & ~0xff | key + 1 & 0xff;
    }

    /**
     * Takes the window back: when the call returns nobody reaches memory through it any more. C:
     * {@code ibv_dealloc_mw}. Closing twice does nothing.
     */
    @Override
    void close();
}
