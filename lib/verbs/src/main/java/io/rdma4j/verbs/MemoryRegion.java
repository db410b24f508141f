package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A registered memory region. C: {@code struct ibv_mr}. Thread safe. Its properties change only by {@link #reregister}.
 *
 * <p>A peer accesses the region with {@link #address} and {@link #remoteKey}, if the access rights allow it. The
 * address is valid only within this region, and may differ from the memory's address in this process. On the software
 * device it reveals nothing about the memory's address. On hardware it is the memory's address, or 0 for
 * {@link AccessFlag#ZERO_BASED}. A program can also choose it:
 * {@link ProtectionDomain#register(MemorySegment, long, Set)}.
 */
public interface MemoryRegion extends AutoCloseable {
    /** Returns the protection domain of this object. */
    ProtectionDomain protectionDomain();

    /** Returns the memory. */
    MemorySegment memory();

    /** Returns the address of the first byte, as peers use it. Byte {@code n} is at {@code address() + n}. */
    long address();

    /** Returns the number of registered bytes. */
    long lengthBytes();

    /** Returns the local key. C: {@code lkey}. */
    int localKey();

    /** Returns the key for the peer. C: {@code rkey}. */
    int remoteKey();

    /** Returns the address, key and length for a peer; {@link RemoteMemory#encode} returns the bytes to send. */
    default RemoteMemory remote() {
        return new RemoteMemory(address(), remoteKey(), lengthBytes());
    }

    /** Returns the access rights. */
    Set<AccessFlag> access();

    /**
     * Changes the memory, the protection domain, the access rights, or several of them together. C:
     * {@code ibv_rereg_mr}.
     *
     * <p>Each packet of a peer and each work request is executed either with the old registration or with the new one,
     * never with a mixture. After the call, no peer can use memory or rights that were removed. New rights and a new
     * domain also apply to work requests that were posted before. If they no longer allow a request, it completes with
     * {@link CompletionStatus#LOCAL_PROTECTION_ERROR}.
     *
     * <p>If only the rights or the domain change, the software device keeps the address and the keys. New memory gets a
     * new address and a new key, and requests that were posted with the old memory complete with an error. On hardware,
     * the address of new memory is the memory's address, and the driver may change both keys in any case. A program
     * must therefore read them again, and send {@link #remote} to its peers. An {@linkplain
     * ProtectionDomain#register(MemorySegment, long, Set) address that the program chose} is not kept for new memory.
     *
     * <p>After the call, the device no longer uses the old memory, unless the call threw {@code EIO}.
     *
     * @param change the new memory, domain or rights
     * @throws RdmaException {@code EINVAL} if the change is empty, the domain belongs to another open device, the
     *     rights contradict each other, {@link AccessFlag#ZERO_BASED} is added or removed without new memory, or the
     *     memory cannot be registered; {@code EBUSY} while memory windows are bound to a region of a software device
     *     (on hardware, the driver decides); {@code EOPNOTSUPP} if the driver cannot make the change (for example rxe
     *     and siw) or cannot register such memory. After these errors the registration is unchanged
     *     ({@code IBV_REREG_MR_ERR_INPUT}). {@code EIO} means that the hardware's driver failed during the change
     *     ({@code IBV_REREG_MR_ERR_CMD}). The region must then not be used any more, and should be closed; the
     *     exception's cause is the driver's error
     * @throws ClosedException if the region or the new domain is closed
     */
    void reregister(MemoryRegionChange change);

    /**
     * Deregisters the memory. When the call returns, no peer can access the memory through this region. Work requests
     * that use it complete with {@link CompletionStatus#LOCAL_PROTECTION_ERROR}. Closing the region again has no
     * effect. C: {@code ibv_dereg_mr}.
     *
     * @throws RdmaException {@code EBUSY} while memory windows are bound to the region
     */
    @Override
    void close();
}
