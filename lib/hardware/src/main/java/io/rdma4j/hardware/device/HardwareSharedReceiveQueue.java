package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.VerbsStructures.Context;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;
import io.rdma4j.verbs.abi.VerbsStructures.ReceiveRequest;
import io.rdma4j.verbs.abi.VerbsStructures.SharedReceiveQueueCreation;
import io.rdma4j.verbs.abi.VerbsStructures.SharedReceiveQueueSettings;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A shared receive queue of a device. */
final class HardwareSharedReceiveQueue extends HardwareObject implements SharedReceiveQueue {
    private final HardwareProtectionDomain domain;
    private final @Nullable Object userContext;
    private final boolean isExtended;
    private volatile SharedReceiveQueueAttributes known;
    private final PostQueue<ReceiveWorkRequest> receives;

    private HardwareSharedReceiveQueue(
            HardwareProtectionDomain domain,
            long address,
            SharedReceiveQueueInitAttributes attributes,
            int maxWorkRequests,
            int maxScatterGather) {
        super(domain.context(), Kind.SHARED_RECEIVE_QUEUE, address);
        this.domain = domain;
        userContext = attributes.context();
        isExtended = attributes.xrcDomain() != null;
        known = new SharedReceiveQueueAttributes(maxWorkRequests, maxScatterGather, 0);
        receives = new PostQueue<>(
                this,
                "ibv_post_srq_recv",
                Context.POST_SHARED_RECEIVE,
                new WorkRequests("ibv_post_srq_recv", ReceiveRequest.BYTES, maxScatterGather),
                WorkRequests::write,
                this::toString);
    }

    static HardwareSharedReceiveQueue create(
            HardwareProtectionDomain domain, long domainAddress, SharedReceiveQueueInitAttributes attributes) {
        try (Call call = new Call()) {
            MemorySegment fields = call.allocate(SharedReceiveQueueCreation.BYTES);
            long sizes = SharedReceiveQueueCreation.ATTRIBUTES;
            fields.set(JAVA_INT, sizes + SharedReceiveQueueSettings.WORK_REQUESTS, attributes.maxWorkRequests());
            fields.set(JAVA_INT, sizes + SharedReceiveQueueSettings.SCATTER_GATHER, attributes.maxScatterGather());
            String details = attributes.maxWorkRequests() + " receives of " + domain.context();
            long created = attributes.xrcDomain() == null
                    ? call.create(Function.CREATE_SHARED_RECEIVE_QUEUE, details, domainAddress, fields.address())
                    : createExtended(call, domain, domainAddress, attributes, fields, details);
            int scatterGather = fields.get(JAVA_INT, sizes + SharedReceiveQueueSettings.SCATTER_GATHER);
            return new HardwareSharedReceiveQueue(
                    domain,
                    created,
                    attributes,
                    Math.max(
                            fields.get(JAVA_INT, sizes + SharedReceiveQueueSettings.WORK_REQUESTS),
                            attributes.maxWorkRequests()),
                    Math.max(scatterGather, attributes.maxScatterGather()));
        }
    }

    private static long createExtended(
            Call call,
            HardwareProtectionDomain domain,
            long domainAddress,
            SharedReceiveQueueInitAttributes attributes,
            MemorySegment fields,
            String details) {
        String operation = "ibv_create_srq_ex";
        HardwareXrcDomain xrcDomain = domain.own(HardwareXrcDomain.class, attributes.xrcDomain(), operation);
        HardwareCompletionQueue queue = domain.own(HardwareCompletionQueue.class, attributes.completions(), operation);
        MemorySegment function =
                domain.context().extendedFunction(ExtendedContext.CREATE_SHARED_RECEIVE_QUEUE, operation);
        long xrcAddress = xrcDomain.handle().enter(operation, xrcDomain);
        try {
            long queueAddress = queue.handle().enter(operation, queue);
            try {
                fields.set(
                        JAVA_INT,
                        SharedReceiveQueueCreation.MASK,
                        Flags.SHARED_RECEIVE_QUEUE_HAS_TYPE
                                | Flags.SHARED_RECEIVE_QUEUE_HAS_PROTECTION_DOMAIN
                                | Flags.SHARED_RECEIVE_QUEUE_HAS_XRC_DOMAIN
                                | Flags.SHARED_RECEIVE_QUEUE_HAS_COMPLETION_QUEUE);
                fields.set(JAVA_INT, SharedReceiveQueueCreation.TYPE, Flags.SHARED_RECEIVE_QUEUE_XRC);
                fields.set(JAVA_LONG, SharedReceiveQueueCreation.PROTECTION_DOMAIN, domainAddress);
                fields.set(JAVA_LONG, SharedReceiveQueueCreation.XRC_DOMAIN, xrcAddress);
                fields.set(JAVA_LONG, SharedReceiveQueueCreation.COMPLETION_QUEUE, queueAddress);
                long created = call.result(function, domain.context().pointer(), fields.address());
                return call.created(operation, details, created);
            } finally {
                queue.handle().exit();
            }
        } finally {
            xrcDomain.handle().exit();
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) {
        receives.post(request);
    }

    @Override
    public void postReceives(ReceiveWorkRequest[] requests, int count) {
        receives.post(requests, count);
    }

    @Override
    public int number() {
        if (!isExtended) {
            throw new RdmaException(
                    "ibv_get_srq_num",
                    Errno.EOPNOTSUPP,
                    "only a queue of extended connections has a number",
                    "Create it with an XRC domain");
        }
        long queue = handle().enter("ibv_get_srq_num", this);
        try (Call call = new Call()) {
            MemorySegment result = call.ofInt(0);
            MemorySegment function =
                    context().extendedFunction(ExtendedContext.SHARED_RECEIVE_QUEUE_NUMBER, "ibv_get_srq_num");
            call.checkResult("ibv_get_srq_num", toString(), (int) call.result(function, queue, result.address()));
            return result.get(JAVA_INT, 0);
        } finally {
            handle().exit();
        }
    }

    @Override
    public SharedReceiveQueueAttributes query() {
        try (Call call = new Call()) {
            MemorySegment result = call.allocate(SharedReceiveQueueSettings.BYTES);
            check(call, Function.QUERY_SHARED_RECEIVE_QUEUE, "", result.address());
            return new SharedReceiveQueueAttributes(
                    result.get(JAVA_INT, SharedReceiveQueueSettings.WORK_REQUESTS),
                    result.get(JAVA_INT, SharedReceiveQueueSettings.SCATTER_GATHER),
                    result.get(JAVA_INT, SharedReceiveQueueSettings.LIMIT));
        } catch (RdmaException refused) {
            if (refused.errno() == Errno.EOPNOTSUPP) { // for example siw
                return known;
            }
            throw refused;
        }
    }

    @Override
    public void setLimit(int receivesLeft) {
        modify(SharedReceiveQueueSettings.LIMIT, receivesLeft, Flags.SHARED_RECEIVE_QUEUE_LIMIT);
        known = new SharedReceiveQueueAttributes(known.maxWorkRequests(), known.maxScatterGather(), receivesLeft);
    }

    @Override
    public void resize(int maxWorkRequests) {
        modify(SharedReceiveQueueSettings.WORK_REQUESTS, maxWorkRequests, Flags.SHARED_RECEIVE_QUEUE_RESIZE);
        known = new SharedReceiveQueueAttributes(maxWorkRequests, known.maxScatterGather(), known.limit());
    }

    private void modify(int at, int value, int mask) {
        try (Call call = new Call()) {
            MemorySegment fields = call.allocate(SharedReceiveQueueSettings.BYTES);
            fields.set(JAVA_INT, at, value);
            check(call, Function.MODIFY_SHARED_RECEIVE_QUEUE, String.valueOf(value), fields.address(), mask);
        }
    }

    @Override
    void destroy(Call call, long address) {
        receives.drain();
        context().finishEvents(this);
        destroy(call, Function.DESTROY_SHARED_RECEIVE_QUEUE, address);
    }

    @Override
    public String toString() {
        return "shared receive queue of " + context().device();
    }
}
