package io.rdma4j.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A send, WRITE, READ or atomic operation to post. Reusable: {@link QueuePair#postSend} copies it. C: {@code struct
 * ibv_send_wr}. Not thread safe.
 *
 * <p>Start with {@link #reset}, choose the operation ({@link #write}, {@link #read}, {@link #compareAndSwap},
 * {@link #fetchAndAdd}, {@link #immediate}, {@link #invalidate}, {@link #bind}, {@link #localInvalidate}; plain SEND if none), add memory with {@link #from} and
 * flags.
 *
 * <table>
 * <caption>What each operation needs</caption>
 * <tr><th>operation</th><th>local memory</th><th>at the peer</th></tr>
 * <tr><td>SEND</td><td>the message</td><td>a receive</td></tr>
 * <tr><td>RDMA WRITE</td><td>the data</td><td>remote write right; with immediate data a receive too</td></tr>
 * <tr><td>RDMA READ</td><td>where the data go, with local write right</td><td>remote read right</td></tr>
 * <tr><td>atomic</td><td>8 bytes for the old value, with local write right</td><td>8 aligned bytes with remote atomic
 * right</td></tr>
 * </table>
 */
public final class SendWorkRequest {
    private long id;
    private SendOpcode opcode = SendOpcode.SEND;
    private boolean signaled;
    private boolean solicited;
    private boolean fence;
    private boolean inline;
    private int immediateOrKey;
    private long remoteAddress;
    private int remoteKey;
    private long compare;
    private long swapOrAdd;
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

    /** Makes this an empty, unsignaled SEND with number {@code newId}. */
    public SendWorkRequest reset(long newId) {
        id = newId;
        opcode = SendOpcode.SEND;
        signaled = false;
        solicited = false;
        fence = false;
        inline = false;
        addressHandle = null;
        sharedReceiveQueue = 0;
        window = null;
        bindRegion = null;
        list.clear();
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

    /** Makes it an RDMA WRITE to the peer's memory; with {@link #immediate} an RDMA WRITE with immediate data. */
    public SendWorkRequest write(long address, int key) {
        opcode =
                opcode == SendOpcode.SEND_WITH_IMMEDIATE ? SendOpcode.RDMA_WRITE_WITH_IMMEDIATE : SendOpcode.RDMA_WRITE;
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /** Makes it an RDMA READ from the peer's memory into the local memory. */
    public SendWorkRequest read(long address, int key) {
        opcode = SendOpcode.RDMA_READ;
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /** Makes it an atomic compare and swap of the eight bytes at {@code address}; the old value goes to local memory. */
    public SendWorkRequest compareAndSwap(long address, int key, long expected, long replacement) {
        opcode = SendOpcode.COMPARE_AND_SWAP;
        remoteAddress = address;
        remoteKey = key;
        compare = expected;
        swapOrAdd = replacement;
        return this;
    }

    /** Makes it an atomic addition to the eight bytes at {@code address}; the old value goes to local memory. */
    public SendWorkRequest fetchAndAdd(long address, int key, long summand) {
        opcode = SendOpcode.FETCH_AND_ADD;
        remoteAddress = address;
        remoteKey = key;
        compare = 0;
        swapOrAdd = summand;
        return this;
    }

    /** Adds immediate data to the SEND or the RDMA WRITE; the peer sees them in its completion. */
    public SendWorkRequest immediate(int data) {
        opcode =
                opcode == SendOpcode.RDMA_WRITE ? SendOpcode.RDMA_WRITE_WITH_IMMEDIATE : SendOpcode.SEND_WITH_IMMEDIATE;
        immediateOrKey = data;
        return this;
    }

    /** Makes it a SEND that also takes back the peer's key {@code key}. */
    public SendWorkRequest invalidate(int key) {
        opcode = SendOpcode.SEND_WITH_INVALIDATE;
        immediateOrKey = key;
        return this;
    }

    /**
     * Says where a datagram goes. C: {@code wr.ud}, {@code ibv_wr_set_ud_addr}.
     *
     * @param handle destination, of the queue pair's protection domain
     * @param queuePairNumber number of the receiving queue pair, 24 bits; 0xffffff for a multicast group
     * @param queueKey key of the receiving queue pair; one with the highest bit set stands for the sender's own
     */
    public SendWorkRequest to(AddressHandle handle, int queuePairNumber, int queueKey) {
        addressHandle = handle;
        remoteQueuePairNumber = queuePairNumber;
        remoteQueueKey = queueKey;
        return this;
    }

    /**
     * Makes it a binding of a memory window to a part of a region; nothing is sent. Requests posted after it may rely on
     * it. C: {@code IBV_WR_BIND_MW} for type 2, {@code ibv_bind_mw} for type 1.
     *
     * <p>It ends with {@link CompletionStatus#MEMORY_WINDOW_BIND_ERROR} if the window is of type 2 and not free or gets
     * nothing, if a window of type 1 is to be zero-based, if the region lacks {@link AccessFlag#MEMORY_WINDOW_BIND} or,
     * for remote write and atomic, {@link AccessFlag#LOCAL_WRITE}, is zero-based itself, or does not have the part.
     *
     * @param boundWindow window of the queue pair's domain
     * @param newKey its key from now on, of which the lower 8 bits count: {@link MemoryWindow#nextRemoteKey}
     * @param region region of the same domain; null leaves a window of type 1 without memory
     * @param offsetBytes where the part begins in the region
     * @param lengthBytes bytes of the part; 0 is as no region
     * @param access what the peer may do: {@code REMOTE_…}, and {@code ZERO_BASED}
     */
    public SendWorkRequest bind(
            MemoryWindow boundWindow,
            int newKey,
            @Nullable MemoryRegion region,
            long offsetBytes,
            long lengthBytes,
            Set<AccessFlag> access) {
        opcode = SendOpcode.BIND_MEMORY_WINDOW;
        window = boundWindow;
        remoteKey = newKey;
        bindRegion = region;
        bindOffset = offsetBytes;
        bindLength = lengthBytes;
        bindAccess = access;
        return this;
    }

    /**
     * Takes back the key of an own memory window of type 2 that this queue pair has bound; nothing is sent. It ends with
     * {@link CompletionStatus#LOCAL_QUEUE_PAIR_OPERATION_ERROR} if the key is none. With {@link #fence} it waits for
     * earlier READs and atomics. C: {@code IBV_WR_LOCAL_INV}.
     */
    public SendWorkRequest localInvalidate(int key) {
        opcode = SendOpcode.LOCAL_INVALIDATE;
        immediateOrKey = key;
        return this;
    }

    /**
     * Says which of the target's shared receive queues this is for; every request over an extended connection needs it. C:
     * {@code qp_type.xrc.remote_srqn}.
     *
     * @param number number of the peer's {@link SharedReceiveQueue}, 24 bits
     */
    public SendWorkRequest toSharedReceiveQueue(int number) {
        sharedReceiveQueue = number;
        return this;
    }

    /** Asks for a completion on success; failure is always reported. C: {@code IBV_SEND_SIGNALED}. */
    public SendWorkRequest signaled() {
        signaled = true;
        return this;
    }

    /** Wakes a peer that waits for solicited events only. C: {@code IBV_SEND_SOLICITED}. */
    public SendWorkRequest solicited() {
        solicited = true;
        return this;
    }

    /** Waits until all earlier READs and atomics are done. C: {@code IBV_SEND_FENCE}. */
    public SendWorkRequest fence() {
        fence = true;
        return this;
    }

    /**
     * Copies the data when posting: the memory may be changed, or be unregistered, at once. Only SEND and WRITE, up to
     * the queue pair's inline size. C: {@code IBV_SEND_INLINE}.
     */
    public SendWorkRequest inline() {
        inline = true;
        return this;
    }

    /** The application's number. */
    public long id() {
        return id;
    }

    /** What to do. */
    public SendOpcode opcode() {
        return opcode;
    }

    /** Whether success is reported. */
    public boolean isSignaled() {
        return signaled;
    }

    /** Whether the peer is asked for a solicited event. */
    public boolean isSolicited() {
        return solicited;
    }

    /** Whether earlier READs and atomics come first. */
    public boolean isFenced() {
        return fence;
    }

    /** Whether the data are copied when posting. */
    public boolean isInline() {
        return inline;
    }

    /** Immediate data. */
    public int immediateData() {
        return immediateOrKey;
    }

    /** Key to take back. */
    public int invalidateKey() {
        return immediateOrKey;
    }

    /** Number of the peer's shared receive queue, of an extended connection. */
    public int sharedReceiveQueueNumber() {
        return sharedReceiveQueue;
    }

    /** Memory window to bind, or null. */
    public @Nullable MemoryWindow memoryWindow() {
        return window;
    }

    /** Region to bind it to, or null for none. */
    public @Nullable MemoryRegion bindRegion() {
        return bindRegion;
    }

    /** Where the bound part begins in the region, in bytes. */
    public long bindOffsetBytes() {
        return bindOffset;
    }

    /** Bytes of the bound part. */
    public long bindLengthBytes() {
        return bindLength;
    }

    /** What the peer may do through the window. */
    public Set<AccessFlag> bindAccess() {
        return bindAccess;
    }

    /** Where at the peer. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** Under which of the peer's keys. */
    public int remoteKey() {
        return remoteKey;
    }

    /** What a compare-and-swap compares with. */
    public long compareValue() {
        return compare;
    }

    /** What a compare-and-swap stores or a fetch-and-add adds. */
    public long swapOrAddValue() {
        return swapOrAdd;
    }

    /** Where a datagram goes, or null. */
    public @Nullable AddressHandle addressHandle() {
        return addressHandle;
    }

    /** Number of the queue pair that a datagram goes to. */
    public int remoteQueuePairNumber() {
        return remoteQueuePairNumber;
    }

    /** Key of the queue pair that a datagram goes to. */
    public int remoteQueueKey() {
        return remoteQueueKey;
    }

    /** The local memory. */
    public ScatterGatherList list() {
        return list;
    }
}
