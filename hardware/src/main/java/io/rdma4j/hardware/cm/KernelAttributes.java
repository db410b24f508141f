package io.rdma4j.hardware.cm;

import io.rdma4j.hardware.cm.CmStructures.Attributes;
import io.rdma4j.hardware.cm.CmStructures.PathToPeer;
import io.rdma4j.hardware.device.QueuePairCodec;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import java.lang.foreign.MemorySegment;

/** Reads the attributes of queue pairs that the kernel's connection manager returns. */
final class KernelAttributes {
    private static final int PSN_MASK = 0xff_ffff;
    private static final int FLOW_LABEL_MASK = 0xf_ffff;

    private KernelAttributes() {}

    /** Returns the attributes that the mask of a structure names, except those without a counterpart here. */
    static QueuePairAttributes read(MemorySegment from) {
        int mask = Fields.intAt(from, Attributes.MASK);
        QueuePairAttributes attributes = new QueuePairAttributes();
        for (QueuePairAttribute attribute : QueuePairAttribute.values()) {
            if ((mask & QueuePairCodec.bit(attribute)) != 0) {
                set(attributes, attribute, from);
            }
        }
        return attributes;
    }

    /** Returns the attributes for a state after INIT of a queue pair for datagrams. */
    static QueuePairAttributes ofDatagrams(QueuePairState target) {
        QueuePairAttributes attributes = new QueuePairAttributes().state(target);
        return target == QueuePairState.READY_TO_SEND ? attributes.sendPsn(0) : attributes;
    }

    private static void set(QueuePairAttributes attributes, QueuePairAttribute attribute, MemorySegment from) {
        var _ = switch (attribute) {
            case STATE -> attributes.state(state(Fields.intAt(from, Attributes.STATE)));
            case ACCESS_FLAGS ->
                attributes.accessFlags(QueuePairCodec.accessFlags(Fields.intAt(from, Attributes.ACCESS_FLAGS)));
            case PARTITION_KEY_INDEX ->
                attributes.partitionKeyIndex(Fields.shortAt(from, Attributes.PARTITION_KEY_INDEX));
            case PORT -> attributes.port(Fields.byteAt(from, Attributes.PORT));
            case QUEUE_KEY -> attributes.queueKey(Fields.intAt(from, Attributes.QUEUE_KEY));
            case ADDRESS_VECTOR -> attributes.addressVector(path(from, Attributes.PATH));
            case PATH_MTU -> attributes.pathMtu(PathMtu.ofCode(Fields.intAt(from, Attributes.PATH_MTU)));
            case TIMEOUT -> attributes.timeout(Fields.byteAt(from, Attributes.TIMEOUT));
            case RETRY_COUNT -> attributes.retryCount(Fields.byteAt(from, Attributes.RETRY_COUNT));
            case RNR_RETRY -> attributes.rnrRetry(Fields.byteAt(from, Attributes.RNR_RETRY));
            case RECEIVE_PSN -> attributes.receivePsn(Fields.intAt(from, Attributes.RECEIVE_PSN) & PSN_MASK);
            case SEND_PSN -> attributes.sendPsn(Fields.intAt(from, Attributes.SEND_PSN) & PSN_MASK);
            case MAX_READ_ATOMIC -> attributes.maxReadAtomic(Fields.byteAt(from, Attributes.MAX_READ_ATOMIC));
            case MAX_DESTINATION_READ_ATOMIC ->
                attributes.maxDestinationReadAtomic(Fields.byteAt(from, Attributes.MAX_DESTINATION_READ_ATOMIC));
            case MIN_RNR_TIMER -> attributes.minRnrTimer(Fields.byteAt(from, Attributes.MIN_RNR_TIMER));
            case DESTINATION_QUEUE_PAIR ->
                attributes.destinationQueuePair(Fields.intAt(from, Attributes.DESTINATION_QUEUE_PAIR) & PSN_MASK);
            case CURRENT_STATE, NOTIFY_WHEN_DRAINED -> attributes;
        };
    }

    private static QueuePairState state(int code) {
        for (QueuePairState state : QueuePairState.values()) {
            if (state.code() == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("queue pair state " + code);
    }

    /** Returns a path. A link-local destination needs no interface here, since the source GID determines it. */
    static AddressVector path(MemorySegment from, long at) {
        return new AddressVector(
                Fields.byteAt(from, at + PathToPeer.SOURCE_GID_INDEX),
                Fields.gidAt(from, at + PathToPeer.DESTINATION_GID),
                0,
                Fields.intAt(from, at + PathToPeer.FLOW_LABEL) & FLOW_LABEL_MASK,
                Fields.byteAt(from, at + PathToPeer.HOP_LIMIT),
                Fields.byteAt(from, at + PathToPeer.TRAFFIC_CLASS),
                Fields.byteAt(from, at + PathToPeer.PORT));
    }
}
