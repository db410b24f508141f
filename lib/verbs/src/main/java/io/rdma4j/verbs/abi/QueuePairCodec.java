package io.rdma4j.verbs.abi;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.abi.VerbsStructures.Capabilities;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/** Reads and writes the attributes of queue pairs in C structures. */
public final class QueuePairCodec {
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
        Fields.putInt(target, QueuePairAttributeFields.STATE, attributes.state().code());
        Fields.putInt(
                target,
                QueuePairAttributeFields.CURRENT_STATE,
                attributes.currentState().code());
        Fields.putInt(
                target, QueuePairAttributeFields.PATH_MTU, attributes.pathMtu().code());
        Fields.putInt(target, QueuePairAttributeFields.QUEUE_KEY, attributes.queueKey());
        Fields.putInt(target, QueuePairAttributeFields.RECEIVE_PSN, attributes.receivePsn());
        Fields.putInt(target, QueuePairAttributeFields.SEND_PSN, attributes.sendPsn());
        Fields.putInt(target, QueuePairAttributeFields.DESTINATION_QUEUE_PAIR, attributes.destinationQueuePair());
        Fields.putInt(target, QueuePairAttributeFields.ACCESS, AccessFlag.bits(attributes.accessFlags()));
        AddressVector vector = attributes.addressVector();
        if (vector != null) {
            AddressVectors.write(target, QueuePairAttributeFields.ADDRESS_VECTOR, vector);
        }
        Fields.putShort(target, QueuePairAttributeFields.PARTITION_KEY_INDEX, attributes.partitionKeyIndex());
        Fields.putByte(target, QueuePairAttributeFields.NOTIFY_WHEN_DRAINED, attributes.notifyWhenDrained() ? 1 : 0);
        Fields.putByte(target, QueuePairAttributeFields.MAX_READ_ATOMIC, attributes.maxReadAtomic());
        Fields.putByte(
                target, QueuePairAttributeFields.MAX_DESTINATION_READ_ATOMIC, attributes.maxDestinationReadAtomic());
        Fields.putByte(target, QueuePairAttributeFields.MIN_RNR_TIMER, attributes.minRnrTimer());
        Fields.putByte(target, QueuePairAttributeFields.PORT, attributes.port());
        Fields.putByte(target, QueuePairAttributeFields.TIMEOUT, attributes.timeout());
        Fields.putByte(target, QueuePairAttributeFields.RETRY_COUNT, attributes.retryCount());
        Fields.putByte(target, QueuePairAttributeFields.RNR_RETRY, attributes.rnrRetry());
    }

    /** Reads the result of a query. */
    public static QueuePairAttributes read(MemorySegment from) {
        QueuePairAttributes attributes = new QueuePairAttributes()
                .state(state(from))
                .accessFlags(accessFlags(Fields.intAt(from, QueuePairAttributeFields.ACCESS)))
                .queueKey(Fields.intAt(from, QueuePairAttributeFields.QUEUE_KEY))
                .receivePsn(Fields.intAt(from, QueuePairAttributeFields.RECEIVE_PSN))
                .sendPsn(Fields.intAt(from, QueuePairAttributeFields.SEND_PSN))
                .destinationQueuePair(Fields.intAt(from, QueuePairAttributeFields.DESTINATION_QUEUE_PAIR))
                .addressVector(AddressVectors.read(from, QueuePairAttributeFields.ADDRESS_VECTOR))
                .partitionKeyIndex(Fields.shortAt(from, QueuePairAttributeFields.PARTITION_KEY_INDEX))
                .notifyWhenDrained(Fields.byteAt(from, QueuePairAttributeFields.NOTIFY_WHEN_DRAINED) != 0)
                .maxReadAtomic(Fields.byteAt(from, QueuePairAttributeFields.MAX_READ_ATOMIC))
                .maxDestinationReadAtomic(Fields.byteAt(from, QueuePairAttributeFields.MAX_DESTINATION_READ_ATOMIC))
                .minRnrTimer(Fields.byteAt(from, QueuePairAttributeFields.MIN_RNR_TIMER))
                .port(Fields.byteAt(from, QueuePairAttributeFields.PORT))
                .timeout(Fields.byteAt(from, QueuePairAttributeFields.TIMEOUT))
                .retryCount(Fields.byteAt(from, QueuePairAttributeFields.RETRY_COUNT))
                .rnrRetry(Fields.byteAt(from, QueuePairAttributeFields.RNR_RETRY));
        int mtu = Fields.intAt(from, QueuePairAttributeFields.PATH_MTU);
        if (mtu >= PathMtu.MTU_256.code() && mtu <= PathMtu.MTU_4096.code()) {
            attributes.pathMtu(PathMtu.ofCode(mtu));
        }
        attributes.draining(Fields.byteAt(from, QueuePairAttributeFields.IS_DRAINING) != 0);
        return attributes;
    }

    /** Reads the state; an unknown state is treated as {@code ERROR}. */
    public static QueuePairState state(MemorySegment from) {
        int code = Fields.intAt(from, QueuePairAttributeFields.STATE);
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
        Fields.putInt(target, at + Capabilities.SEND_WORK_REQUESTS, sizes.maxSendWorkRequests());
        Fields.putInt(target, at + Capabilities.RECEIVE_WORK_REQUESTS, sizes.maxReceiveWorkRequests());
        Fields.putInt(target, at + Capabilities.SEND_SCATTER_GATHER, sizes.maxSendScatterGather());
        Fields.putInt(target, at + Capabilities.RECEIVE_SCATTER_GATHER, sizes.maxReceiveScatterGather());
        Fields.putInt(target, at + Capabilities.INLINE_BYTES, sizes.maxInlineBytes());
    }

    /** Reads the sizes of a queue pair. C: {@code struct ibv_qp_cap}. */
    public static QueuePairCapabilities readCapabilities(MemorySegment from, long at) {
        return new QueuePairCapabilities(
                Fields.intAt(from, at + Capabilities.SEND_WORK_REQUESTS),
                Fields.intAt(from, at + Capabilities.RECEIVE_WORK_REQUESTS),
                Fields.intAt(from, at + Capabilities.SEND_SCATTER_GATHER),
                Fields.intAt(from, at + Capabilities.RECEIVE_SCATTER_GATHER),
                Fields.intAt(from, at + Capabilities.INLINE_BYTES));
    }
}
