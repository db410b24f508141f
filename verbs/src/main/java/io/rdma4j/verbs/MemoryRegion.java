package io.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Registered memory. C: {@code struct ibv_mr}. Thread safe.
 *
 * <p>A peer reaches it with {@link #address} and {@link #remoteKey}, if its rights allow. The address is the region's
 * own: it need not be the memory's address in this process, and tells a peer nothing about it.
 */
public interface MemoryRegion extends AutoCloseable {
    /** Returns the protection domain of this object. */
    ProtectionDomain protectionDomain();

    /** The memory. */
    MemorySegment memory();

    /** Address of the first byte, for the peer; byte {@code n} is at {@code address() + n}. */
    long address();

    /** Bytes registered. */
    long lengthBytes();

    /** Local key. C: {@code lkey}. */
    int localKey();

    /** Key for the peer. C: {@code rkey}. */
    int remoteKey();

    /** Rights. */
    Set<AccessFlag> access();

    /**
     * Takes the registration back: when the call returns nobody reaches the memory through it any more, and work
     * requests that name it end with {@link CompletionStatus#LOCAL_PROTECTION_ERROR}. C: {@code ibv_dereg_mr}. Closing
     * twice does nothing.
     *
     * @throws RdmaException {@code EBUSY} while memory windows are bound to it
     */
    @Override
    void close();
}
