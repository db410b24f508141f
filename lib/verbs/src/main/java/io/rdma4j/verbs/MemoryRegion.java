package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A registered memory region. C: {@code struct ibv_mr}. Thread safe. Its properties change only by {@link #reregister}.
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
     * Changes the memory, the protection domain, the access rights, or several of them at once. C: {@code ibv_rereg_mr}.
     *
     * <p>Each packet of a peer and each work request is executed with the registration before the call or with that after it,
     * never with a mixture. When the call returns, no peer can use what was taken away. Rights and domain apply also to work
     * requests that were posted before: they complete with {@link CompletionStatus#LOCAL_PROTECTION_ERROR} if these no longer
     * allow them.
     *
     * <p>The software device keeps address and keys when only rights or domain change. Other memory gets a new address and
     * a new key there, and requests that were posted with the old memory complete with an error. With hardware, other
     * memory has its own address, and the driver may change both keys in any case. So programs read them again and send {@link
     * #remote} to their peers. An {@linkplain ProtectionDomain#register(MemorySegment, long, Set) address that the program
     * chose} is not kept for other memory.
     *
     * <p>The old memory is no longer in use when the call returns, unless it threw {@code EIO}.
     *
     * @param change the new memory, domain or rights
     * @throws RdmaException {@code EINVAL} if the change is empty, the domain is of another open device, the rights contradict each
     *     other or begin or end to be {@link AccessFlag#ZERO_BASED} without other memory, or the memory cannot be registered; {@code
     *     EBUSY} while memory windows are bound to the region of a software device, whereas a driver of hardware decides by
     *     itself; {@code EOPNOTSUPP} if the driver cannot change this, such as those of rxe and siw, or cannot register such
     *     memory. The registration is then the one before the call ({@code IBV_REREG_MR_ERR_INPUT}). Only {@code EIO} means that
     *     the driver of hardware failed during the change: the region must not be used any more, but closed ({@code
     *     IBV_REREG_MR_ERR_CMD}); the cause is the error of the driver
     * @throws ClosedException if the region or the new domain is closed
     */
    void reregister(MemoryRegionChange change);

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
