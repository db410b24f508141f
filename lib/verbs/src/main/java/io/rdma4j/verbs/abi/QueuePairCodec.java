package io.rdma4j.verbs.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/** Reads and writes the attributes of queue pairs in C structures. */
public final class QueuePairCodec {
    private static final int BYTE = 0xff;
    private static final int SHORT = 0xffff;

    private QueuePairCodec() {}

    /** Returns the bit of an attribute. */
    public static int bit(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> QueuePairMask.STATE;
            case CURRENT_STATE -> QueuePairMask.CURRENT_STATE;
            case NOTIFY_WHEN_DRAINED -> QueuePairMask.NOTIFY_WHEN_DRAINED;
            case ACCESS_FLAGS -> QueuePairMask.ACCESS_FLAGS;
            case PARTITION_KEY_INDEX -> QueuePairMask.PARTITION_KEY_INDEX;
            case PORT -> QueuePairMask.PORT;
            case ADDRESS_VECTOR -> QueuePairMask.ADDRESS_VECTOR;
            case PATH_MTU -> QueuePairMask.PATH_MTU;
            case TIMEOUT -> QueuePairMask.TIMEOUT;
            case RETRY_COUNT -> QueuePairMask.RETRY_COUNT;
            case RNR_RETRY -> QueuePairMask.RNR_RETRY;
            case RECEIVE_PSN -> QueuePairMask.RECEIVE_PSN;
            case MAX_READ_ATOMIC -> QueuePairMask.MAX_READ_ATOMIC;
            case MIN_RNR_TIMER -> QueuePairMask.MIN_RNR_TIMER;
            case SEND_PSN -> QueuePairMask.SEND_PSN;
            case MAX_DESTINATION_READ_ATOMIC -> QueuePairMask.MAX_DESTINATION_READ_ATOMIC;
            case DESTINATION_QUEUE_PAIR -> QueuePairMask.DESTINATION_QUEUE_PAIR;
            case QUEUE_KEY -> QueuePairMask.QUEUE_KEY;
        };
    }

    /** Returns the mask of the attributes that are set. */
    public static int mask(QueuePairAttributes attributes) {
        int mask = 0;
        for (QueuePairAttribute attribute : attributes.present()) {
            mask |= bit(attribute);
        }
        return mask;
    }

    /** Writes all attributes; C reads only the attributes in the mask. */
    public static void write(MemorySegment target, QueuePairAttributes attributes) {
        target.set(
                JAVA_INT_UNALIGNED,
                QueuePairAttributeFields.STATE,
                attributes.state().code());
        target.set(
                JAVA_INT_UNALIGNED,
                QueuePairAttributeFields.CURRENT_STATE,
                attributes.currentState().code());
        target.set(
                JAVA_INT_UNALIGNED,
                QueuePairAttributeFields.PATH_MTU,
                attributes.pathMtu().code());
        target.set(JAVA_INT_UNALIGNED, QueuePairAttributeFields.QUEUE_KEY, attributes.queueKey());
        target.set(JAVA_INT_UNALIGNED, QueuePairAttributeFields.RECEIVE_PSN, attributes.receivePsn());
        target.set(JAVA_INT_UNALIGNED, QueuePairAttributeFields.SEND_PSN, attributes.sendPsn());
        target.set(
                JAVA_INT_UNALIGNED, QueuePairAttributeFields.DESTINATION_QUEUE_PAIR, attributes.destinationQueuePair());
        target.set(JAVA_INT_UNALIGNED, QueuePairAttributeFields.ACCESS, AccessFlag.bits(attributes.accessFlags()));
        AddressVector vector = attributes.addressVector();
        if (vector != null) {
            AddressVectors.write(target, QueuePairAttributeFields.ADDRESS_VECTOR, vector);
        }
        target.set(JAVA_SHORT_UNALIGNED, QueuePairAttributeFields.PARTITION_KEY_INDEX, (short)
                attributes.partitionKeyIndex());
        target.set(JAVA_BYTE, QueuePairAttributeFields.NOTIFY_WHEN_DRAINED, (byte)
                (attributes.notifyWhenDrained() ? 1 : 0));
        target.set(JAVA_BYTE, QueuePairAttributeFields.MAX_READ_ATOMIC, (byte) attributes.maxReadAtomic());
        target.set(JAVA_BYTE, QueuePairAttributeFields.MAX_DESTINATION_READ_ATOMIC, (byte)
                attributes.maxDestinationReadAtomic());
        target.set(JAVA_BYTE, QueuePairAttributeFields.MIN_RNR_TIMER, (byte) attributes.minRnrTimer());
        target.set(JAVA_BYTE, QueuePairAttributeFields.PORT, (byte) attributes.port());
        target.set(JAVA_BYTE, QueuePairAttributeFields.TIMEOUT, (byte) attributes.timeout());
        target.set(JAVA_BYTE, QueuePairAttributeFields.RETRY_COUNT, (byte) attributes.retryCount());
        target.set(JAVA_BYTE, QueuePairAttributeFields.RNR_RETRY, (byte) attributes.rnrRetry());
    }

    /** Reads the result of a query. */
    public static QueuePairAttributes read(MemorySegment from) {
        QueuePairAttributes attributes = new QueuePairAttributes()
                .state(state(from))
                .accessFlags(accessFlags(from.get(JAVA_INT_UNALIGNED, QueuePairAttributeFields.ACCESS)))
                .queueKey(from.get(JAVA_INT_UNALIGNED, QueuePairAttributeFields.QUEUE_KEY))
                .receivePsn(from.get(JAVA_INT_UNALIGNED, QueuePairAttributeFields.RECEIVE_PSN))
                .sendPsn(from.get(JAVA_INT_UNALIGNED, QueuePairAttributeFields.SEND_PSN))
                .destinationQueuePair(from.get(JAVA_INT_UNALIGNED, QueuePairAttributeFields.DESTINATION_QUEUE_PAIR))
                .addressVector(AddressVectors.read(from, QueuePairAttributeFields.ADDRESS_VECTOR))
                .partitionKeyIndex(from.get(JAVA_SHORT_UNALIGNED, QueuePairAttributeFields.PARTITION_KEY_INDEX) & SHORT)
                .notifyWhenDrained(from.get(JAVA_BYTE, QueuePairAttributeFields.NOTIFY_WHEN_DRAINED) != 0)
                .maxReadAtomic(from.get(JAVA_BYTE, QueuePairAttributeFields.MAX_READ_ATOMIC) & BYTE)
                .maxDestinationReadAtomic(
                        from.get(JAVA_BYTE, QueuePairAttributeFields.MAX_DESTINATION_READ_ATOMIC) & BYTE)
                .minRnrTimer(from.get(JAVA_BYTE, QueuePairAttributeFields.MIN_RNR_TIMER) & BYTE)
                .port(from.get(JAVA_BYTE, QueuePairAttributeFields.PORT) & BYTE)
                .timeout(from.get(JAVA_BYTE, QueuePairAttributeFields.TIMEOUT) & BYTE)
                .retryCount(from.get(JAVA_BYTE, QueuePairAttributeFields.RETRY_COUNT) & BYTE)
                .rnrRetry(from.get(JAVA_BYTE, QueuePairAttributeFields.RNR_RETRY) & BYTE);
        int mtu = from.get(JAVA_INT_UNALIGNED, QueuePairAttributeFields.PATH_MTU);
        if (mtu >= PathMtu.MTU_256.code() && mtu <= PathMtu.MTU_4096.code()) {
            attributes.pathMtu(PathMtu.ofCode(mtu));
        }
        attributes.draining(from.get(JAVA_BYTE, QueuePairAttributeFields.IS_DRAINING) != 0);
        return attributes;
    }

    /** Reads the state; an unknown state is treated as {@code ERROR}. */
    public static QueuePairState state(MemorySegment from) {
        int code = from.get(JAVA_INT_UNALIGNED, QueuePairAttributeFields.STATE);
        return QueuePairState.ofCode(code).orElse(QueuePairState.ERROR);
    }

    /** Returns the access rights for a set of bits. */
    public static Set<AccessFlag> accessFlags(int bits) {
        Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        for (AccessFlag flag : AccessFlag.values()) {
            if ((bits & flag.bit()) != 0) {
                flags.add(flag);
            }
        }
        return flags;
    }

    /** Writes the sizes of a queue pair. C: {@code struct ibv_qp_cap}. */
    public static void write(MemorySegment target, long at, QueuePairCapabilities sizes) {
        target.set(JAVA_INT_UNALIGNED, at + Capabilities.SEND_WORK_REQUESTS, sizes.maxSendWorkRequests());
        target.set(JAVA_INT_UNALIGNED, at + Capabilities.RECEIVE_WORK_REQUESTS, sizes.maxReceiveWorkRequests());
        target.set(JAVA_INT_UNALIGNED, at + Capabilities.SEND_SCATTER_GATHER, sizes.maxSendScatterGather());
        target.set(JAVA_INT_UNALIGNED, at + Capabilities.RECEIVE_SCATTER_GATHER, sizes.maxReceiveScatterGather());
        target.set(JAVA_INT_UNALIGNED, at + Capabilities.INLINE_BYTES, sizes.maxInlineBytes());
    }

    /** Reads the sizes of a queue pair. C: {@code struct ibv_qp_cap}. */
    public static QueuePairCapabilities readCapabilities(MemorySegment from, long at) {
        return new QueuePairCapabilities(
                from.get(JAVA_INT_UNALIGNED, at + Capabilities.SEND_WORK_REQUESTS),
                from.get(JAVA_INT_UNALIGNED, at + Capabilities.RECEIVE_WORK_REQUESTS),
                from.get(JAVA_INT_UNALIGNED, at + Capabilities.SEND_SCATTER_GATHER),
                from.get(JAVA_INT_UNALIGNED, at + Capabilities.RECEIVE_SCATTER_GATHER),
                from.get(JAVA_INT_UNALIGNED, at + Capabilities.INLINE_BYTES));
    }
}
