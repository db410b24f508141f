package io.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A registered memory region. C: {@code struct ibv_mr}. Thread safe.
 *
 * <p>A peer accesses it with {@link #address} and {@link #remoteKey}, if the rights allow. The address is valid only in
 * the region. It need not be the address of the memory in this process. With the software device it reveals nothing about
 * that address. With hardware it is that address, or 0 for {@link AccessFlag#ZERO_BASED}. A program can also choose it:
 * {@link ProtectionDomain#register(MemorySegment, long, Set)}.
 */
public interface MemoryRegion extends AutoCloseable {
    /** Returns the protection domain of this object. */
    ProtectionDomain protectionDomain();

    /** Returns the memory. */
    MemorySegment memory();

    /** Returns the address of the first byte for the peer. Byte {@code n} is at {@code address() + n}. */
    long address();

    /** Returns the number of registered bytes. */
    long lengthBytes();

    /** Returns the local key. C: {@code lkey}. */
    int localKey();

    /** Returns the key for the peer. C: {@code rkey}. */
    int remoteKey();

    /** Returns the region as a peer addresses it, to be sent to the peer; see {@link RemoteMemory#encode}. */
    default RemoteMemory remote() {
        return new RemoteMemory(address(), remoteKey(), lengthBytes());
    }

    /** Returns the access rights. */
    Set<AccessFlag> access();

    /**
     * Deregisters the memory. When the call returns, no peer can access the memory through this region. Work requests
     * that use it complete with {@link CompletionStatus#LOCAL_PROTECTION_ERROR}. C: {@code ibv_dereg_mr}. Closing twice
     * has no effect.
     *
     * @throws RdmaException {@code EBUSY} while memory windows are bound to it
     */
    @Override
    void close();
}
