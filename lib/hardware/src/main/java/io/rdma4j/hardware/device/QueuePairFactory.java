package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.QueuePairCodec;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairCreation;
import io.rdma4j.verbs.spi.RequiredAttributes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/** Creates a queue pair, and keeps the objects that it refers to open meanwhile. */
final class QueuePairFactory implements AutoCloseable {
    /** The sizes to try, in order to find the limit of inline data: no C structure reports it. */
    private static final int[] INLINE_BYTES = {512, 256, 128, 64, 32};

    private final HardwareProtectionDomain domain;
    private final QueuePairInitAttributes attributes;
    private final QueuePairType type;
    private final Deque<Handle> entered = new ArrayDeque<>();
    private final Call call = new Call();

    private QueuePairFactory(HardwareProtectionDomain domain, QueuePairInitAttributes attributes) {
        this.domain = domain;
        this.attributes = attributes;
        type = RequiredAttributes.type(attributes);
    }

    static HardwareQueuePair create(
            HardwareProtectionDomain domain, long domainAddress, QueuePairInitAttributes attributes) {
        try (QueuePairFactory factory = new QueuePairFactory(domain, attributes)) {
            return factory.create(domainAddress);
        }
    }

    private HardwareQueuePair create(long domainAddress) {
        MemorySegment fields = call.allocate(QueuePairCreation.BYTES);
        boolean isTarget = type == QueuePairType.XRC_RECEIVE;
        HardwareSharedReceiveQueue shared = attributes.sharedReceiveQueue() == null
                ? null
                : domain.own(HardwareSharedReceiveQueue.class, attributes.sharedReceiveQueue(), "ibv_create_qp");
        HardwareCompletionQueue sends = queue(RequiredAttributes.sendCompletions(attributes));
        HardwareCompletionQueue receives = queue(RequiredAttributes.receiveCompletions(attributes));
        if (!isTarget) {
            fields.set(JAVA_LONG, QueuePairCreation.COMPLETIONS_OF_SENDS, enter(sends));
            fields.set(JAVA_LONG, QueuePairCreation.COMPLETIONS_OF_RECEIVES, enter(receives));
        }
        if (shared != null) {
            fields.set(JAVA_LONG, QueuePairCreation.SHARED_RECEIVE_QUEUE, enter(shared));
        }
        QueuePairCapabilities sizes = shared == null
                ? attributes.capabilities()
                : attributes.capabilities().withoutReceives();
        QueuePairCodec.write(fields, QueuePairCreation.CAPABILITIES, sizes);
        fields.set(JAVA_INT, QueuePairCreation.TYPE, type.code());
        fields.set(JAVA_INT, QueuePairCreation.SIGNAL_ALL, attributes.signalAll() ? 1 : 0);
        String details = type + " of " + domain.context() + " with " + sizes;
        long created = isTarget ? createTarget(fields, details) : createOrdinary(domainAddress, fields, details);
        return call.useOrDestroy(created, Function.DESTROY_QUEUE_PAIR, () -> {
            Layouts.requireQueuePair(created, domain.context().pointer(), type.code());
            QueuePairCapabilities actual = QueuePairCodec.readCapabilities(fields, QueuePairCreation.CAPABILITIES);
            return new HardwareQueuePair(domain, created, attributes, sends, receives, shared, actual);
        });
    }

    private long createOrdinary(long domainAddress, MemorySegment fields, String details) {
        if (attributes.blockMulticastLoopback()) {
            return createWithFlags(domainAddress, fields, details);
        }
        return call.create(Function.CREATE_QUEUE_PAIR, details, domainAddress, fields.address());
    }

    private long createWithFlags(long domainAddress, MemorySegment fields, String details) {
        int mask = Flags.QUEUE_PAIR_HAS_PROTECTION_DOMAIN | Flags.QUEUE_PAIR_HAS_CREATE_FLAGS;
        fields.set(JAVA_INT, QueuePairCreation.MASK, mask);
        fields.set(JAVA_LONG, QueuePairCreation.PROTECTION_DOMAIN, domainAddress);
        fields.set(JAVA_INT, QueuePairCreation.CREATE_FLAGS, Flags.BLOCK_MULTICAST_LOOPBACK);
        MemorySegment function =
                domain.context().extendedFunction(ExtendedContext.CREATE_QUEUE_PAIR, "ibv_create_qp_ex");
        long created = call.result(function, domain.context().pointer(), fields.address());
        return call.created("ibv_create_qp_ex", details + " without multicast loopback", created);
    }

    private long createTarget(MemorySegment fields, String details) {
        HardwareXrcDomain xrcDomain = attributes.xrcDomain() == null
                ? null
                : domain.own(HardwareXrcDomain.class, attributes.xrcDomain(), "ibv_create_qp_ex");
        if (xrcDomain == null) {
            throw new RdmaException("ibv_create_qp_ex", Errno.EINVAL, details, "Give the XRC domain");
        }
        fields.set(JAVA_INT, QueuePairCreation.MASK, Flags.QUEUE_PAIR_HAS_XRC_DOMAIN);
        fields.set(JAVA_LONG, QueuePairCreation.XRC_DOMAIN, enter(xrcDomain));
        MemorySegment function =
                domain.context().extendedFunction(ExtendedContext.CREATE_QUEUE_PAIR, "ibv_create_qp_ex");
        long created = call.result(function, domain.context().pointer(), fields.address());
        return call.created("ibv_create_qp_ex", details, created);
    }

    private HardwareCompletionQueue queue(CompletionQueue queue) {
        return domain.own(HardwareCompletionQueue.class, queue, "ibv_create_qp");
    }

    private long enter(HardwareObject object) {
        long address = object.handle().enter("ibv_create_qp", object);
        entered.push(object.handle());
        return address;
    }

    @Override
    public void close() {
        entered.forEach(Handle::exit);
        call.close();
    }

    /** Returns the maximum size of inline data of a queue pair that was created with the largest accepted size. */
    static int maxInlineBytes(HardwareContext context) {
        try (ProtectionDomain domain = context.createProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(1)) {
            for (int bytes : INLINE_BYTES) {
                QueuePairCapabilities sizes = new QueuePairCapabilities(1, 1, 1, 1, bytes);
                try (QueuePair queuePair = domain.createQueuePair(QueuePairInitAttributes.reliable(queue, sizes))) {
                    return queuePair.capabilities().maxInlineBytes();
                } catch (RdmaException tooLong) {
                    // A smaller size may be accepted.
                }
            }
        } catch (RdmaException noObjects) {
            // The limit is unknown: 0 avoids inline data.
        }
        return 0;
    }
}
