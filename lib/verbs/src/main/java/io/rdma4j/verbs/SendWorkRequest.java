package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.value.SendOpcode;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A SEND, WRITE, READ, atomic operation or FLUSH to post. {@link QueuePair#postSend} copies it. C: {@code struct
 * ibv_send_wr}. Not thread safe.
 *
 * <p>A static method returns a new request for each operation: {@link #send(long, MemoryRegion)},
 * {@link #write(long, MemoryRegion, RemoteMemory)}, {@link #read(long, MemoryRegion, RemoteMemory)}, the atomics,
 * {@link #atomicWrite(long, RemoteMemory, long)} and {@link #flush(long, RemoteMemory, Set)}. Options can be added:
 * {@link #withImmediate}, {@link #withInvalidate}, {@link #signaled}, {@link #fenced}, {@link #solicited} and
 * {@link #inline}. Immediate data or a key to invalidate that the operation does not carry are refused immediately.
 * Other errors are reported when the request is posted.
 *
 * <p>On a hot path, reuse one object, so that posting allocates nothing. Start with {@link #reset}, and select the
 * operation with {@link #write}, {@link #read}, {@link #compareAndSwap}, {@link #fetchAndAdd}, {@link #atomicWrite},
 * {@link #flush}, {@link #flushRegion}, {@link #bind} or {@link #localInvalidate}; the default is a SEND. Then add
 * memory with {@link #from}, and the same options.
 *
 * <table>
 * <caption>Requirements of each operation</caption>
 * <tr><th>operation</th><th>local memory</th><th>at the peer</th></tr>
 * <tr><td>SEND</td><td>the message</td><td>a receive</td></tr>
 * <tr><td>RDMA WRITE</td><td>the data</td><td>remote write right; with immediate data also a receive</td></tr>
 * <tr><td>RDMA READ</td><td>memory for the data, with local write right</td><td>remote read right</td></tr>
 * <tr><td>atomic</td><td>8 bytes for the old value, with local write right</td><td>8 aligned bytes with remote atomic
 * right</td></tr>
 * <tr><td>ATOMIC WRITE</td><td>none</td><td>8 aligned bytes with remote write right</td></tr>
 * <tr><td>FLUSH</td><td>none</td><td>{@link AccessFlag#FLUSH_GLOBAL}, {@link AccessFlag#FLUSH_PERSISTENT} or
 * both</td></tr>
 * </table>
 *
 * <p>ATOMIC WRITE and FLUSH require a reliable connection, which may be an extended one, and a peer with a device that
 * executes them: {@link DeviceCapability#ATOMIC_WRITE}, {@link DeviceCapability#FLUSH_GLOBAL},
 * {@link DeviceCapability#FLUSH_PERSISTENT}. Only the software device can post them; hardware refuses them with
 * {@link Errno#EOPNOTSUPP}. They are treated like READs and atomics by the limit of outstanding operations and by
 * {@link #fenced}.
 */
public final class SendWorkRequest {
    private long id;
    private SendOpcode opcode = SendOpcode.SEND;
    private boolean signaled;
    private boolean solicited;
    private boolean fenced;
    private boolean inline;
    private int immediateOrKey;
    private long remoteAddress;
    private int remoteKey;
    private long compare;
    private long swapOrAdd;
    private int placement;
    private SelectivityLevel selectivity = SelectivityLevel.RANGE;
    private long flushBytes;
    private @Nullable AddressHandle addressHandle;
    private int remoteQueuePairNumber;
    private int remoteQueueKey;
    private int sharedReceiveQueue;
    private @Nullable MemoryWindow window;
    private @Nullable MemoryRegion bindRegion;
    private long bindOffset;
    private long bindLength;
    private Set<AccessFlag> bindAccess = Set.of();
    private final ScatterGatherList list = new ScatterGatherList();

    /** Creates an empty SEND. */
    public SendWorkRequest() {}

    /**
     * Returns a new SEND of a region.
     *
     * @param id the application's number of the request, reported by its completion
     * @param message the region to send
     */
    public static SendWorkRequest send(long id, MemoryRegion message) {
        return new SendWorkRequest().reset(id).from(message);
    }

    /**
     * Returns a new SEND of a part of a region.
     *
     * @param id the application's number of the request, reported by its completion
     * @param region the region that contains the message
     * @param offsetBytes the offset of the message in the region
     * @param lengthBytes the length of the message
     */
    public static SendWorkRequest send(long id, MemoryRegion region, long offsetBytes, long lengthBytes) {
        return new SendWorkRequest().reset(id).from(region, offsetBytes, lengthBytes);
    }

    /**
     * Returns a new RDMA WRITE of a region to the peer's memory.
     *
     * @param id the application's number of the request, reported by its completion
     * @param source the region with the data
     * @param target the memory of the peer, at least as long as the region
     * @throws IllegalArgumentException if the target is shorter than the source
     */
    public static SendWorkRequest write(long id, MemoryRegion source, RemoteMemory target) {
        target.requireLength(source.lengthBytes());
        return new SendWorkRequest()
                .reset(id)
                .write(target.address(), target.key())
                .from(source);
    }

    /**
     * Returns a new RDMA READ of a range of the peer's memory.
     *
     * @param id the application's number of the request, reported by its completion
     * @param target the region that receives the data, from its first byte
     * @param source the memory of the peer to read, not longer than the region
     * @throws IllegalArgumentException if the source is longer than the target
     */
    public static SendWorkRequest read(long id, MemoryRegion target, RemoteMemory source) {
        requireRoom(source.lengthBytes(), target.lengthBytes());
        return new SendWorkRequest()
                .reset(id)
                .read(source.address(), source.key())
                .from(target, 0, source.lengthBytes());
    }

    /**
     * Returns a new compare-and-swap of the peer's first eight bytes of {@code target}.
     *
     * @param id the application's number of the request, reported by its completion
     * @param result the region that receives the old value in its first eight bytes
     * @param target at least eight bytes at an address that is a multiple of 8
     * @throws IllegalArgumentException if the result or the target has fewer than eight bytes
     */
    public static SendWorkRequest compareAndSwap(
            long id, MemoryRegion result, RemoteMemory target, long expected, long replacement) {
        requireRoom(Long.BYTES, Math.min(result.lengthBytes(), target.lengthBytes()));
        return new SendWorkRequest()
                .reset(id)
                .compareAndSwap(target.address(), target.key(), expected, replacement)
                .from(result, 0, Long.BYTES);
    }

    /**
     * Returns a new fetch-and-add to the peer's first eight bytes of {@code target}.
     *
     * @param id the application's number of the request, reported by its completion
     * @param result the region that receives the old value in its first eight bytes
     * @param target at least eight bytes at an address that is a multiple of 8
     * @throws IllegalArgumentException if the result or the target has fewer than eight bytes
     */
    public static SendWorkRequest fetchAndAdd(long id, MemoryRegion result, RemoteMemory target, long summand) {
        requireRoom(Long.BYTES, Math.min(result.lengthBytes(), target.lengthBytes()));
        return new SendWorkRequest()
                .reset(id)
                .fetchAndAdd(target.address(), target.key(), summand)
                .from(result, 0, Long.BYTES);
    }

    /**
     * Returns a new ATOMIC WRITE of the peer's first eight bytes of {@code target}. See
     * {@link #atomicWrite(long, int, long)}.
     *
     * @param id the application's number of the request, reported by its completion
     * @param target at least eight bytes at an address that is a multiple of 8
     * @param value the value to store
     * @throws IllegalArgumentException if the target has fewer than eight bytes
     */
    public static SendWorkRequest atomicWrite(long id, RemoteMemory target, long value) {
        target.requireLength(Long.BYTES);
        return new SendWorkRequest().reset(id).atomicWrite(target.address(), target.key(), value);
    }

    /**
     * Returns a new FLUSH of the peer's memory. See {@link #flush(long, int, long, Set)}.
     *
     * @param id the application's number of the request, reported by its completion
     * @param target the memory of the peer that was written
     * @param types one or both types
     * @throws IllegalArgumentException if {@code types} is empty
     */
    public static SendWorkRequest flush(long id, RemoteMemory target, Set<PlacementType> types) {
        return new SendWorkRequest().reset(id).flush(target.address(), target.key(), target.lengthBytes(), types);
    }

    private static void requireRoom(long neededBytes, long availableBytes) {
        if (neededBytes > availableBytes) {
            throw new IllegalArgumentException(neededBytes + " bytes do not fit into " + availableBytes);
        }
    }

    /** Resets this to an empty, unsignaled SEND with number {@code newId}. */
    public SendWorkRequest reset(long newId) {
        id = newId;
        opcode = SendOpcode.SEND;
        signaled = false;
        solicited = false;
        fenced = false;
        inline = false;
        addressHandle = null;
        sharedReceiveQueue = 0;
        window = null;
        bindRegion = null;
        list.clear();
        return this;
    }

    /** Changes only the number. */
    public SendWorkRequest id(long newId) {
        id = newId;
        return this;
    }

    /** Adds local memory; see {@link ScatterGatherList#add}. */
    public SendWorkRequest from(MemoryRegion region, long offsetBytes, long lengthBytes) {
        list.add(region, offsetBytes, lengthBytes);
        return this;
    }

    /** Adds a whole region. */
    public SendWorkRequest from(MemoryRegion region) {
        return from(region, 0, region.lengthBytes());
    }

    /**
     * Selects an RDMA WRITE to the peer's memory, with immediate data if {@link #withImmediate} is also called.
     *
     * @throws IllegalStateException if a key to invalidate was added, which only a SEND carries
     */
    public SendWorkRequest write(long address, int key) {
        requireNoInvalidate(SendOpcode.RDMA_WRITE);
        opcode =
                opcode == SendOpcode.SEND_WITH_IMMEDIATE ? SendOpcode.RDMA_WRITE_WITH_IMMEDIATE : SendOpcode.RDMA_WRITE;
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /**
     * Selects an RDMA READ from the peer's memory into the local memory.
     *
     * @throws IllegalStateException if immediate data or a key to invalidate were added, which a READ does not carry
     */
    public SendWorkRequest read(long address, int key) {
        select(SendOpcode.RDMA_READ);
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /**
     * Selects a compare-and-swap of the eight bytes at {@code address}. The old value is stored in local memory.
     *
     * @throws IllegalStateException if immediate data or a key to invalidate were added, which an atomic does not carry
     */
    public SendWorkRequest compareAndSwap(long address, int key, long expected, long replacement) {
        select(SendOpcode.COMPARE_AND_SWAP);
        remoteAddress = address;
        remoteKey = key;
        compare = expected;
        swapOrAdd = replacement;
        return this;
    }

    /**
     * Selects a fetch-and-add to the eight bytes at {@code address}. The old value is stored in local memory.
     *
     * @throws IllegalStateException if immediate data or a key to invalidate were added, which an atomic does not carry
     */
    public SendWorkRequest fetchAndAdd(long address, int key, long summand) {
        select(SendOpcode.FETCH_AND_ADD);
        remoteAddress = address;
        remoteKey = key;
        compare = 0;
        swapOrAdd = summand;
        return this;
    }

    /**
     * Selects an ATOMIC WRITE, which stores eight bytes at {@code address} atomically: no reader sees only some of
     * them. It is executed after all earlier requests, and needs no local memory. The old value is not returned. C:
     * {@code ibv_wr_atomic_write}.
     *
     * <p>It completes with {@link CompletionStatus#REMOTE_INVALID_REQUEST_ERROR} if the address is not a multiple of 8,
     * or the peer's queue pair does not grant {@link AccessFlag#REMOTE_WRITE}. It completes with
     * {@link CompletionStatus#REMOTE_ACCESS_ERROR} if the peer's region does not grant this right.
     *
     * @param address an address at the peer, a multiple of 8
     * @param key the peer's key
     * @param value the value to store; its bytes are sent in this host's native order, like the bytes of memory
     * @throws IllegalStateException if immediate data or a key to invalidate were added, which it does not carry
     */
    public SendWorkRequest atomicWrite(long address, int key, long value) {
        select(SendOpcode.ATOMIC_WRITE);
        remoteAddress = address;
        remoteKey = key;
        compare = 0;
        swapOrAdd = value;
        return this;
    }

    /**
     * Selects a FLUSH of a range of the peer's memory. When it completes, the data that earlier WRITEs, ATOMIC WRITEs
     * and atomics of this queue pair stored in the range have the placement that {@code types} specifies. It needs no
     * local memory. C: {@code ibv_wr_flush} with {@code IBV_FLUSH_RANGE}.
     *
     * <p>It completes with {@link CompletionStatus#REMOTE_INVALID_REQUEST_ERROR} if the peer's queue pair does not
     * grant the rights. It completes with {@link CompletionStatus#REMOTE_ACCESS_ERROR} if the peer's region does not
     * grant them or does not contain the range, or if the memory could not be made persistent.
     *
     * @param address the first address at the peer
     * @param key the peer's key
     * @param lengthBytes the length of the range, 0 to 2<sup>31</sup>
     * @param types one or both types
     * @throws IllegalArgumentException if {@code types} is empty, or the length is negative
     * @throws IllegalStateException if immediate data or a key to invalidate were added, which it does not carry
     */
    public SendWorkRequest flush(long address, int key, long lengthBytes, Set<PlacementType> types) {
        if (lengthBytes < 0) {
            throw new IllegalArgumentException("the length is " + lengthBytes + " bytes, must be 0 or more");
        }
        selectFlush(SelectivityLevel.RANGE, key, types);
        remoteAddress = address;
        flushBytes = lengthBytes;
        return this;
    }

    /**
     * Selects a FLUSH of a whole memory region of the peer. See {@link #flush(long, int, long, Set)}. C:
     * {@code ibv_wr_flush} with {@code IBV_FLUSH_MR}.
     *
     * @param key the key of the peer's region
     * @param types one or both types
     * @throws IllegalArgumentException if {@code types} is empty
     * @throws IllegalStateException if immediate data or a key to invalidate were added, which it does not carry
     */
    public SendWorkRequest flushRegion(int key, Set<PlacementType> types) {
        selectFlush(SelectivityLevel.REGION, key, types);
        return this;
    }

    private void selectFlush(SelectivityLevel level, int key, Set<PlacementType> types) {
        if (types.isEmpty()) {
            throw new IllegalArgumentException("a FLUSH needs a placement type");
        }
        select(SendOpcode.FLUSH);
        remoteAddress = 0;
        remoteKey = key;
        placement = PlacementType.bits(types);
        selectivity = level;
        flushBytes = 0;
    }

    /** Selects an operation that carries neither immediate data nor a key to invalidate. */
    private void select(SendOpcode selected) {
        if (opcode == SendOpcode.SEND_WITH_IMMEDIATE) {
            throw new IllegalStateException(selected + " carries no immediate data");
        }
        requireNoInvalidate(selected);
        opcode = selected;
    }

    private void requireNoInvalidate(SendOpcode selected) {
        if (opcode == SendOpcode.SEND_WITH_INVALIDATE) {
            throw new IllegalStateException(selected + " cannot invalidate a key of the peer");
        }
    }

    /**
     * Adds immediate data to a SEND or an RDMA WRITE. The peer's completion has them. C: {@code IBV_WR_SEND_WITH_IMM},
     * {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
     *
     * @param data 32 bits
     * @throws IllegalStateException if the operation carries no immediate data
     */
    public SendWorkRequest withImmediate(int data) {
        opcode = switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE -> SendOpcode.SEND_WITH_IMMEDIATE;
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
            default -> throw new IllegalStateException(opcode + " carries no immediate data");
        };
        immediateOrKey = data;
        return this;
    }

    /**
     * Adds a key of the peer to a SEND, which invalidates the key when it arrives. C: {@code IBV_WR_SEND_WITH_INV}.
     *
     * @param key key of a window of type 2 that the peer has bound
     * @throws IllegalStateException if this is not a SEND, or has immediate data
     */
    public SendWorkRequest withInvalidate(int key) {
        if (opcode != SendOpcode.SEND && opcode != SendOpcode.SEND_WITH_INVALIDATE) {
            throw new IllegalStateException(opcode + " cannot invalidate a key of the peer");
        }
        opcode = SendOpcode.SEND_WITH_INVALIDATE;
        immediateOrKey = key;
        return this;
    }

    /**
     * Sets the destination of a datagram. C: {@code wr.ud}, {@code ibv_wr_set_ud_addr}.
     *
     * @param handle destination, of the queue pair's protection domain
     * @param queuePairNumber number of the receiving queue pair, 24 bits; 0xffffff for a multicast group
     * @param queueKey key of the receiving queue pair; if the highest bit is set, the key of the sending queue pair is
     *     used
     */
    public SendWorkRequest to(AddressHandle handle, int queuePairNumber, int queueKey) {
        addressHandle = handle;
        remoteQueuePairNumber = queuePairNumber;
        remoteQueueKey = queueKey;
        return this;
    }

    /**
     * Selects the binding of a memory window to the part of a region that {@link #boundTo} adds. Without it, a window
     * of type 1 is unbound. A binding sends nothing, and requests that are posted later may rely on it. C:
     * {@code IBV_WR_BIND_MW} for type 2, {@code ibv_bind_mw} for type 1.
     *
     * <p>It completes with {@link CompletionStatus#MEMORY_WINDOW_BIND_ERROR} if a window of type 2 is already bound or
     * would be unbound, or if a window of type 1 would be zero-based. The status is the same if the region is
     * zero-based, does not contain the part, or lacks {@link AccessFlag#MEMORY_WINDOW_BIND} or, for remote write and
     * atomic rights, {@link AccessFlag#LOCAL_WRITE}.
     *
     * @param boundWindow window of the queue pair's domain
     * @param newKey its new key, usually {@link MemoryWindow#nextRemoteKey}; only the lower 8 bits are used
     * @throws IllegalStateException if immediate data or a key to invalidate were added, which a binding does not carry
     */
    public SendWorkRequest bind(MemoryWindow boundWindow, int newKey) {
        select(SendOpcode.BIND_MEMORY_WINDOW);
        window = boundWindow;
        remoteKey = newKey;
        bindRegion = null;
        bindOffset = 0;
        bindLength = 0;
        bindAccess = Set.of();
        return this;
    }

    /**
     * Adds the part of a region to which {@link #bind} binds the window. C: {@code struct ibv_mw_bind_info}.
     *
     * @param region region of the domain of the window
     * @param offsetBytes offset of the part in the region
     * @param lengthBytes length of the part in bytes; 0 has the same effect as no region
     * @param access rights of the peer: {@code REMOTE_…}, and {@code ZERO_BASED}
     * @throws IllegalStateException if this is not a binding
     */
    public SendWorkRequest boundTo(MemoryRegion region, long offsetBytes, long lengthBytes, Set<AccessFlag> access) {
        if (opcode != SendOpcode.BIND_MEMORY_WINDOW) {
            throw new IllegalStateException(opcode + " binds no memory window");
        }
        bindRegion = region;
        bindOffset = offsetBytes;
        bindLength = lengthBytes;
        bindAccess = access;
        return this;
    }

    /**
     * Selects the invalidation of a local memory window of type 2 that this queue pair has bound. An invalidation sends
     * nothing. It completes with {@link CompletionStatus#LOCAL_QUEUE_PAIR_OPERATION_ERROR} if no such window has the
     * key. With {@link #fenced} it waits for earlier READs and atomics. C: {@code IBV_WR_LOCAL_INV}.
     *
     * @throws IllegalStateException if immediate data or a key to invalidate were added
     */
    public SendWorkRequest localInvalidate(int key) {
        select(SendOpcode.LOCAL_INVALIDATE);
        immediateOrKey = key;
        return this;
    }

    /**
     * Sets the target's shared receive queue, which every request on an extended connection needs. C:
     * {@code qp_type.xrc.remote_srqn}.
     *
     * @param number number of the peer's {@link SharedReceiveQueue}, 24 bits
     */
    public SendWorkRequest toSharedReceiveQueue(int number) {
        sharedReceiveQueue = number;
        return this;
    }

    /** Requests a completion on success. Failure is always reported. C: {@code IBV_SEND_SIGNALED}. */
    public SendWorkRequest signaled() {
        signaled = true;
        return this;
    }

    /** Requests a solicited event at the peer. C: {@code IBV_SEND_SOLICITED}. */
    public SendWorkRequest solicited() {
        solicited = true;
        return this;
    }

    /**
     * Delays execution until all earlier READs, atomics, ATOMIC WRITEs and FLUSHes have completed. C:
     * {@code IBV_SEND_FENCE}.
     */
    public SendWorkRequest fenced() {
        fenced = true;
        return this;
    }

    /**
     * Copies the data when the request is posted, so that the memory may be modified or deregistered immediately. Only
     * for SEND and WRITE, up to the inline size of the queue pair. C: {@code IBV_SEND_INLINE}.
     */
    public SendWorkRequest inline() {
        inline = true;
        return this;
    }

    /** Returns the application's number of the request. */
    public long id() {
        return id;
    }

    /** Returns the operation. */
    public SendOpcode opcode() {
        return opcode;
    }

    /** Returns whether a completion reports success. */
    public boolean isSignaled() {
        return signaled;
    }

    /** Returns whether a solicited event is requested. */
    public boolean isSolicited() {
        return solicited;
    }

    /** Returns whether the request waits for earlier READs and atomics. */
    public boolean isFenced() {
        return fenced;
    }

    /** Returns whether the data are copied when the request is posted. */
    public boolean isInline() {
        return inline;
    }

    /** Returns the immediate data. */
    public int immediateData() {
        return immediateOrKey;
    }

    /** Returns the key to invalidate. */
    public int invalidateKey() {
        return immediateOrKey;
    }

    /** Returns the number of the peer's shared receive queue, for extended connections. */
    public int sharedReceiveQueueNumber() {
        return sharedReceiveQueue;
    }

    /** Returns the memory window to bind, or null. */
    public @Nullable MemoryWindow memoryWindow() {
        return window;
    }

    /** Returns the region to which the window will be bound, or null. */
    public @Nullable MemoryRegion bindRegion() {
        return bindRegion;
    }

    /** Returns the offset in bytes of the part of the region to which the window will be bound. */
    public long bindOffsetBytes() {
        return bindOffset;
    }

    /** Returns the length in bytes of the part of the region to which the window will be bound. */
    public long bindLengthBytes() {
        return bindLength;
    }

    /** Returns the rights of the peer through the window. */
    public Set<AccessFlag> bindAccess() {
        return bindAccess;
    }

    /** Returns the address at the peer. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** Returns the peer's key. */
    public int remoteKey() {
        return remoteKey;
    }

    /** Returns the expected value of a compare-and-swap. */
    public long compareValue() {
        return compare;
    }

    /** Returns the value that a compare-and-swap or an ATOMIC WRITE stores, or that a fetch-and-add adds. */
    public long swapOrAddValue() {
        return swapOrAdd;
    }

    /** Returns the types of a FLUSH, as bits of {@link PlacementType}. */
    public int placementBits() {
        return placement;
    }

    /** Returns whether a FLUSH is for a range or a whole region. */
    public SelectivityLevel selectivity() {
        return selectivity;
    }

    /** Returns the length of the range of a FLUSH in bytes. */
    public long flushLengthBytes() {
        return flushBytes;
    }

    /** Returns the destination of a datagram, or null. */
    public @Nullable AddressHandle addressHandle() {
        return addressHandle;
    }

    /** Returns the number of the destination queue pair of a datagram. */
    public int remoteQueuePairNumber() {
        return remoteQueuePairNumber;
    }

    /** Returns the queue key of a datagram. */
    public int remoteQueueKey() {
        return remoteQueueKey;
    }

    /** Returns the local memory. */
    public ScatterGatherList list() {
        return list;
    }
}
