package io.rdma4j.exec.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.exec.bridge.Readiness;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.VerbsStructures.Completion;
import io.rdma4j.verbs.abi.VerbsStructures.ReceiveRequest;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Set;

/**
 * An end of the connection of a {@link WarmUp}, with the objects and structures of a C program. It posts and polls
 * through the pointers that C calls. Not thread safe.
 */
final class WarmUpEnd implements AutoCloseable {
    private static final int MEMORY_BYTES = 65_536;
    private static final int DEPTH = 64;
    private static final int BATCH = 16;
    private static final int MAX_INLINE_BYTES = 256;
    private static final int NO_DESCRIPTOR = -1;
    private static final Set<AccessFlag> RIGHTS =
            Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

    private static final MethodHandle POLL = DataPathStubs.POLL.caller();
    private static final MethodHandle POST_SEND = DataPathStubs.POST_SEND.caller();
    private static final MethodHandle POST_RECEIVE = DataPathStubs.POST_RECEIVE.caller();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(MEMORY_BYTES, 64);
    private final MemorySegment completions = arena.allocate((long) BATCH * Completion.BYTES, 8);
    private final MemorySegment bad = arena.allocate(8, 8);
    private final MemorySegment element = arena.allocate(ScatterGather.BYTES, 8);
    private final MemorySegment sendRequest = arena.allocate(SendRequest.BYTES, 8);
    private final MemorySegment receiveRequest = arena.allocate(ReceiveRequest.BYTES, 8);
    private final OpenDevice device;
    private final Domain domain;
    private final Region region;
    private final Completions queue;
    private final PostedQueuePair posted;
    private final GidEntry gid;
    private final int queueHandle;
    private final int queuePairHandle;

    /** Opens a device, and creates an end on it. */
    WarmUpEnd(Device from) {
        device = new OpenDevice(from.open(), NO_DESCRIPTOR, Readiness.NO_DESCRIPTORS);
        gid = device.context().gidTable(1).getFirst();
        domain = new Domain(device);
        region = new Region(domain, Region.register(domain, memory, memory.address(), RIGHTS));
        queue = new Completions(device, device.context().createCompletionQueue(2 * DEPTH), null);
        posted = new PostedQueuePair(
                device,
                domain.domain()
                        .createQueuePair(QueuePairInitAttributes.reliable(
                                queue.queue(), new QueuePairCapabilities(DEPTH, DEPTH, 1, 1, MAX_INLINE_BYTES))),
                domain);
        queueHandle = Handles.add(queue);
        queuePairHandle = Handles.add(posted);
        receiveRequest.set(JAVA_LONG, ReceiveRequest.LIST, element.address());
        receiveRequest.set(JAVA_INT, ReceiveRequest.LIST_LENGTH, 1);
        sendRequest.set(JAVA_LONG, SendRequest.LIST, element.address());
        sendRequest.set(JAVA_INT, SendRequest.LIST_LENGTH, 1);
        element.set(JAVA_LONG, ScatterGather.ADDRESS, memory.address());
        element.set(JAVA_INT, ScatterGather.LOCAL_KEY, region.region().localKey());
    }

    /** Connects this end to another one, which must also connect to this one. */
    void connect(WarmUpEnd peer) {
        QueuePair queuePair = posted.queuePair();
        AddressVector path = AddressVector.of(gid.index(), peer.gid.gid()).withHopLimit(1);
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(RIGHTS));
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(path)
                .pathMtu(PathMtu.MTU_4096)
                .destinationQueuePair(peer.posted.queuePair().number())
                .receivePsn(0)
                .maxDestinationReadAtomic(1)
                .minRnrTimer(12));
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(0)
                .timeout(14)
                .retryCount(7)
                .rnrRetry(7)
                .maxReadAtomic(1));
        MemoryRegion remote = peer.region.region();
        sendRequest.set(JAVA_LONG, SendRequest.RDMA_ADDRESS, peer.memory.address());
        sendRequest.set(JAVA_INT, SendRequest.RDMA_KEY, remote.remoteKey());
    }

    /** Posts an operation on the memory of this end and, for a WRITE or a READ, on the memory of the peer. */
    void post(SendOpcode opcode, int bytes) {
        boolean isInline = bytes <= MAX_INLINE_BYTES && opcode != SendOpcode.RDMA_READ;
        element.set(JAVA_INT, ScatterGather.LENGTH, bytes);
        sendRequest.set(JAVA_INT, SendRequest.OPCODE, opcode.code());
        sendRequest.set(
                JAVA_INT, SendRequest.FLAGS, isInline ? Flags.SEND_SIGNALED | Flags.SEND_INLINE : Flags.SEND_SIGNALED);
        require("ibv_post_send", call(POST_SEND, queuePairHandle, sendRequest.address(), bad.address()));
    }

    /** Posts a receive for the largest message. */
    void postReceive() {
        element.set(JAVA_INT, ScatterGather.LENGTH, MEMORY_BYTES);
        require("ibv_post_recv", call(POST_RECEIVE, queuePairHandle, receiveRequest.address(), bad.address()));
    }

    /** Polls for completions and returns their number. */
    int poll(int most) {
        int count = pollInto(Math.min(most, BATCH));
        for (int i = 0; i < count; i++) {
            int status = completions.get(JAVA_INT, (long) i * Completion.BYTES + Completion.STATUS);
            if (status != CompletionStatus.SUCCESS.code()) {
                throw new RdmaException(
                        "ibv_poll_cq", Errno.EIO, "an operation of the warm-up ended with status " + status, "");
            }
        }
        require("ibv_poll_cq", Math.max(0, -count));
        return count;
    }

    private int pollInto(int most) {
        try {
            return (int) POLL.invokeExact(queueHandle, most, completions.address());
        } catch (Throwable e) {
            throw new AssertionError("a function of the data path threw an exception", e);
        }
    }

    private static int call(MethodHandle function, int queuePair, long request, long bad) {
        try {
            return (int) function.invokeExact(queuePair, request, bad);
        } catch (Throwable e) {
            throw new AssertionError("a function of the data path threw an exception", e);
        }
    }

    private static void require(String operation, int error) {
        if (error != 0) {
            throw new RdmaException(operation, Errno.EIO, "an operation of the warm-up failed with error " + error, "");
        }
    }

    @Override
    public void close() {
        Handles.remove(queuePairHandle);
        Handles.remove(queueHandle);
        posted.close();
        queue.close();
        region.close();
        domain.close();
        device.close();
        arena.close();
    }
}
