package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A domain of memory and queue pairs that may be used together. C: {@code struct ibv_pd}. Thread safe.
 */
public interface ProtectionDomain extends AutoCloseable {
    /** Returns the open device. */
    DeviceContext context();

    /**
     * Registers memory. C: {@code ibv_reg_mr}.
     *
     * <p>Hardware refuses arrays, since the garbage collector moves them. While memory is registered with hardware,
     * {@link java.lang.foreign.Arena#close} of its arena throws {@link IllegalStateException}.
     *
     * @param memory native memory, or heap memory for the software device. It must not be read-only if it will be
     *     written. It must be accessible to every thread (an automatic, shared or global arena, or an array), and its
     *     arena must stay open while it is registered
     * @param access rights; remote write and remote atomic require local write
     * @throws RdmaException {@code EINVAL} if the rights contradict each other, or the memory is confined to a thread;
     *     {@code EOPNOTSUPP} if the device cannot use heap memory, or lacks a feature that {@code access} requests;
     *     {@code ENOMEM} if the limit of locked memory is reached, since hardware locks the memory
     */
    MemoryRegion register(MemorySegment memory, Set<AccessFlag> access);

    /**
     * Registers memory at an address that the program chooses, and {@link MemoryRegion#address} then returns. Several
     * processes can thus use the same addresses for memory at different places. C: {@code ibv_reg_mr_iova}.
     *
     * <p>Hardware requires that this address and the memory's address have the same offset in a page: their lowest 12
     * bits must be equal, or more bits on a host with larger pages.
     *
     * @param memory as for {@link #register(MemorySegment, Set)}
     * @param address the address of the first byte for peers. The address after the last byte is at most 2<sup>64</sup>
     *     - 1
     * @param access rights, without {@link AccessFlag#ZERO_BASED}
     * @throws RdmaException as for {@link #register(MemorySegment, Set)}; also {@code EINVAL} if the address is not
     *     possible, and {@code EOPNOTSUPP} if the driver ignores chosen addresses (for example siw)
     */
    MemoryRegion register(MemorySegment memory, long address, Set<AccessFlag> access);

    /** Registers memory; see {@link #register(MemorySegment, Set)}. */
    default MemoryRegion register(MemorySegment memory, AccessFlag... access) {
        return register(memory, Set.of(access));
    }

    /**
     * Advises the device that it will use memory, so that the first access need not wait for a page. C: {@code
     * ibv_advise_mr}.
     *
     * <p>A software device locks no memory, and accesses it like any thread. It only checks the ranges.
     *
     * @param advice the advice
     * @param ranges memory of this domain that is registered {@linkplain AccessFlag#ON_DEMAND on demand}
     * @param wait true to wait until the device has followed the advice, {@code IBV_ADVISE_MR_FLAG_FLUSH}; false to
     *     return immediately
     * @throws RdmaException {@code EINVAL} if a range belongs to another domain or is not registered on demand;
     *     {@code EPERM} if a range of {@link MemoryAdvice#PREFETCH_WRITE} is not registered for writing;
     *     {@code EOPNOTSUPP} if the device takes no advice. On hardware, the driver decides about these and other
     *     errors
     */
    void advise(MemoryAdvice advice, ScatterGatherList ranges, boolean wait);

    /**
     * Creates a queue pair. C: {@code ibv_create_qp}.
     *
     * @param attributes the parameters, with a type and both completion queues, as
     *     {@link QueuePairInitAttributes#reliable} returns them
     * @throws RdmaException {@code EINVAL} if a capability is out of range, or if the type or a completion queue is
     *     missing; {@code ENOMEM} if the limit of the device is reached
     */
    QueuePair createQueuePair(QueuePairInitAttributes attributes);

    /**
     * Creates a shared receive queue. C: {@code ibv_create_srq}.
     *
     * @throws RdmaException {@code EINVAL} if a size is out of range, {@code ENOMEM} if the limit of the device is
     *     reached
     */
    SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes);

    /**
     * Allocates a memory window that is not bound to memory. C: {@code ibv_alloc_mw}.
     *
     * @throws RdmaException {@code ENOMEM} if the limit of the device is reached
     */
    MemoryWindow allocateMemoryWindow(MemoryWindow.Type type);

    /**
     * Creates a destination of datagrams. C: {@code ibv_create_ah}.
     *
     * @throws RdmaException {@code EINVAL} if the device has no GID with that index, or the destination's address
     *     family is different
     */
    AddressHandle createAddressHandle(AddressVector addressVector);

    /**
     * Creates a destination for replies to the sender of a datagram. C: {@code ibv_create_ah_from_wc}.
     *
     * @param completion completion of the receive
     * @param received memory of the receive; its first 40 bytes are read
     * @param port the device's port, from 1
     * @throws RdmaException as for {@link AddressVector#of} and {@link #createAddressHandle(AddressVector)}
     */
    default AddressHandle createAddressHandle(WorkCompletion completion, MemorySegment received, int port) {
        return createAddressHandle(AddressVector.of(context(), completion, received, port));
    }

    /**
     * Closes the domain. C: {@code ibv_dealloc_pd}.
     *
     * @throws RdmaException {@code EBUSY} while the domain has memory regions, memory windows, queue pairs or shared
     *     receive queues
     */
    @Override
    void close();
}
