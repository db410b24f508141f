package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.abi.Fields;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.QueuePairCodec;
import io.rdma4j.verbs.abi.QueuePairMask;
import io.rdma4j.verbs.abi.VerbsStructures.Context;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairCreation;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairFields;
import io.rdma4j.verbs.abi.VerbsStructures.ReceiveRequest;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import io.rdma4j.verbs.abi.VerbsStructures.WindowBinding;
import io.rdma4j.verbs.abi.VerbsStructures.WindowFields;
import io.rdma4j.verbs.spi.QueuePairTransitions;
import io.rdma4j.verbs.spi.RequiredAttributes;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A queue pair of a device. */
final class HardwareQueuePair extends HardwareObject implements QueuePair {
    private static final int ALL = QueuePairMask.STATE
            | QueuePairMask.ACCESS_FLAGS
            | QueuePairMask.PARTITION_KEY_INDEX
            | QueuePairMask.PORT
            | QueuePairMask.QUEUE_KEY
            | QueuePairMask.ADDRESS_VECTOR
            | QueuePairMask.PATH_MTU
            | QueuePairMask.TIMEOUT
            | QueuePairMask.RETRY_COUNT
            | QueuePairMask.RNR_RETRY
            | QueuePairMask.RECEIVE_PSN
            | QueuePairMask.MAX_READ_ATOMIC
            | QueuePairMask.MIN_RNR_TIMER
            | QueuePairMask.SEND_PSN
            | QueuePairMask.MAX_DESTINATION_READ_ATOMIC
            | QueuePairMask.DESTINATION_QUEUE_PAIR
            | QueuePairMask.NOTIFY_WHEN_DRAINED;

    private final HardwareProtectionDomain domain;
    private final QueuePairInitAttributes attributes;
    private final QueuePairType type;
    private final HardwareCompletionQueue sendCompletions;
    private final HardwareCompletionQueue receiveCompletions;
    private final @Nullable HardwareSharedReceiveQueue sharedReceiveQueue;
    private final QueuePairCapabilities capabilities;
    private final int number;
    private final PostQueue<SendWorkRequest> sends;
    private final PostQueue<ReceiveWorkRequest> receives;
    private final Set<Gid> groups = new HashSet<>();

    HardwareQueuePair(
            HardwareProtectionDomain domain,
            long address,
            QueuePairInitAttributes attributes,
            HardwareCompletionQueue sendCompletions,
            HardwareCompletionQueue receiveCompletions,
            @Nullable HardwareSharedReceiveQueue sharedReceiveQueue,
            QueuePairCapabilities capabilities) {
        super(domain.context(), Kind.QUEUE_PAIR, address);
        this.domain = domain;
        this.attributes = attributes;
        type = RequiredAttributes.type(attributes);
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.sharedReceiveQueue = sharedReceiveQueue;
        this.capabilities = capabilities;
        number = Native.intAt(address + QueuePairFields.NUMBER);
        sends = new PostQueue<>(
                this,
                "ibv_post_send",
                Context.POST_SEND,
                new WorkRequests("ibv_post_send", SendRequest.BYTES, capabilities.maxSendScatterGather()),
                type == QueuePairType.UNRELIABLE_DATAGRAM ? WorkRequests::writeDatagram : WorkRequests::write,
                this::condition);
        receives = new PostQueue<>(
                this,
                "ibv_post_recv",
                Context.POST_RECEIVE,
                new WorkRequests("ibv_post_recv", ReceiveRequest.BYTES, capabilities.maxReceiveScatterGather()),
                WorkRequests::write,
                this::condition);
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairType type() {
        return type;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public CompletionQueue sendCompletions() {
        return sendCompletions;
    }

    @Override
    public CompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public @Nullable Object userContext() {
        return attributes.context();
    }

    // ---- state

    @Override
    public QueuePairState state() {
        try (Call call = new Call()) {
            return QueuePairCodec.state(query(call, QueuePairMask.STATE));
        }
    }

    @Override
    public QueuePairAttributes query() {
        try (Call call = new Call()) {
            return QueuePairCodec.read(query(call, ALL));
        }
    }

    private MemorySegment query(Call call, int mask) {
        MemorySegment result = call.allocate(QueuePairAttributeFields.BYTES);
        MemorySegment creation = call.allocate(QueuePairCreation.BYTES);
        check(call, Function.QUERY_QUEUE_PAIR, "", result.address(), mask, creation.address());
        return result;
    }

    @Override
    public void modify(QueuePairAttributes changed) {
        try (Call call = new Call()) {
            MemorySegment fields = call.allocate(QueuePairAttributeFields.BYTES);
            QueuePairCodec.write(fields, changed);
            check(call, Function.MODIFY_QUEUE_PAIR, "", fields.address(), QueuePairCodec.mask(changed));
        } catch (RdmaException refused) {
            throw refused.errno() == Errno.EINVAL ? explained(refused, changed) : refused;
        }
    }

    /** Adds the rule that a change violates, if any. */
    private RdmaException explained(RdmaException refused, QueuePairAttributes changed) {
        String rule = QueuePairTransitions.explainRefusal(type(), state(), changed);
        return rule == null
                ? refused
                : new RdmaException(refused.operation(), refused.errno(), this + ": " + rule, "", refused);
    }

    @Override
    public Map<String, Long> counters() {
        return Map.of();
    }

    /** Returns the name and the state, for the message if the driver refuses a request. */
    private String condition() {
        try {
            return this + ", whose state is " + state();
        } catch (RdmaException unknown) {
            return toString();
        }
    }

    // ---- work requests

    @Override
    public void postSend(SendWorkRequest request) {
        if (request.opcode() == SendOpcode.BIND_MEMORY_WINDOW) {
            bind(request);
        } else {
            sends.post(request);
        }
    }

    @Override
    public void postSends(SendWorkRequest[] requests, int count) {
        try {
            sends.post(requests, count);
            noteBindings(requests, count);
        } catch (PartialPostException refused) {
            noteBindings(requests, refused.posted());
            throw refused;
        }
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) {
        receives.post(request);
    }

    @Override
    public void postReceives(ReceiveWorkRequest[] requests, int count) {
        receives.post(requests, count);
    }

    /**
     * Binds a window. For a window of type 1, C has a separate call, which posts the request and sets the key. To
     * unbind it, the call gets the region to which the window was bound, since drivers read the region of each request.
     */
    private void bind(SendWorkRequest request) {
        if (!(request.memoryWindow() instanceof HardwareMemoryWindow window)
                || window.type() != MemoryWindow.Type.TYPE_1) {
            sends.post(request);
            noteBinding(request);
            return;
        }
        long windowAddress = window.handle().enter("ibv_bind_mw", window);
        try (Call call = new Call()) {
            MemoryRegion region = request.bindRegion() == null ? window.region() : request.bindRegion();
            HardwareMemoryRegion bound = domain.own(HardwareMemoryRegion.class, region, "ibv_bind_mw");
            long regionAddress = bound.handle().enter("ibv_bind_mw", bound);
            try {
                bindFirstType(call, request, window, windowAddress, bound, regionAddress);
            } finally {
                bound.handle().exit();
            }
        } finally {
            window.handle().exit();
        }
    }

    private void bindFirstType(
            Call call,
            SendWorkRequest request,
            HardwareMemoryWindow window,
            long windowAddress,
            HardwareMemoryRegion bound,
            long regionAddress) {
        MemorySegment fields = call.allocate(WindowBinding.BYTES);
        fields.set(JAVA_LONG, WindowBinding.ID, request.id());
        fields.set(JAVA_INT, WindowBinding.FLAGS, request.isSignaled() ? Flags.SEND_SIGNALED : 0);
        fields.set(JAVA_LONG, WindowBinding.REGION, regionAddress);
        boolean isUnbound = request.bindRegion() == null || request.bindLengthBytes() == 0;
        fields.set(JAVA_LONG, WindowBinding.ADDRESS, bound.address() + (isUnbound ? 0 : request.bindOffsetBytes()));
        fields.set(JAVA_LONG, WindowBinding.LENGTH, isUnbound ? 0 : request.bindLengthBytes());
        fields.set(JAVA_INT, WindowBinding.ACCESS, AccessFlag.bits(request.bindAccess()));
        MemorySegment function = context().function(Context.BIND_WINDOW);
        long queuePair = handle().enter("ibv_bind_mw", this);
        try {
            int error = (int) call.result(function, queuePair, windowAddress, fields.address());
            call.checkResult("ibv_bind_mw", toString(), error);
            window.onBound(bound, Native.intAt(windowAddress + WindowFields.KEY));
        } finally {
            handle().exit();
        }
    }

    private static void noteBindings(SendWorkRequest[] requests, int count) {
        for (int i = 0; i < count; i++) {
            noteBinding(requests[i]);
        }
    }

    private static void noteBinding(SendWorkRequest request) {
        if (request.opcode() == SendOpcode.BIND_MEMORY_WINDOW
                && request.memoryWindow() instanceof HardwareMemoryWindow window) {
            window.onPosted(request.bindRegion(), request.remoteKey());
        }
    }

    // ---- multicast

    @Override
    public void attachMulticast(Gid group) {
        synchronized (groups) {
            if (groups.add(group)) {
                boolean isAttached = false;
                try {
                    changeGroup(Function.ATTACH_MULTICAST, group);
                    isAttached = true;
                } finally {
                    if (!isAttached) {
                        groups.remove(group);
                    }
                }
            }
        }
    }

    @Override
    public void detachMulticast(Gid group) {
        synchronized (groups) {
            changeGroup(Function.DETACH_MULTICAST, group);
            groups.remove(group);
        }
    }

    private void changeGroup(Function function, Gid group) {
        try (Call call = new Call()) {
            MemorySegment gid = call.allocate(Gid.LENGTH);
            Fields.putGid(gid, 0, group);
            check(call, function, group.toString(), gid.address(), 0);
        }
    }

    // ---- life

    @Override
    public void close() {
        synchronized (groups) {
            for (Gid group : Set.copyOf(groups)) {
                detachMulticast(group);
            }
        }
        super.close();
    }

    @Override
    void destroy(Call call, long address) {
        sends.drain();
        receives.drain();
        context().finishEvents(this);
        destroy(call, Function.DESTROY_QUEUE_PAIR, address);
    }

    @Override
    public String toString() {
        return "queue pair 0x%06x of %s".formatted(number, context().device());
    }
}
