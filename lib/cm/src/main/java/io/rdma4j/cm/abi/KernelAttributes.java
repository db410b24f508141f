package io.rdma4j.cm.abi;

import io.rdma4j.cm.abi.CmStructures.Attributes;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.abi.AddressVectors;
import io.rdma4j.verbs.abi.Fields;
import io.rdma4j.verbs.abi.QueuePairCodec;
import java.lang.foreign.MemorySegment;

/** Reads and writes attributes of queue pairs and paths in the structures of the kernel's connection manager. */
public final class KernelAttributes {
    private static final int PSN_MASK = 0xff_ffff;
    private static final int FLOW_LABEL_MASK = 0xf_ffff;

    private KernelAttributes() {}

    /** Returns the attributes in the mask of a structure. Attributes without a counterpart are omitted. */
    public static QueuePairAttributes read(MemorySegment from) {
        int mask = Fields.intAt(from, Attributes.MASK);
        QueuePairAttributes attributes = new QueuePairAttributes();
        for (QueuePairAttribute attribute : QueuePairAttribute.values()) {
            if ((mask & QueuePairCodec.bit(attribute)) != 0) {
                set(attributes, attribute, from);
            }
        }
        return attributes;
    }

    /** Writes attributes into zeroed memory of {@link Attributes#BYTES} bytes, with the mask of the set attributes. */
    public static void write(MemorySegment to, QueuePairAttributes attributes) {
        Fields.putInt(to, Attributes.MASK, QueuePairCodec.mask(attributes));
        Fields.putInt(to, Attributes.STATE, attributes.state().code());
        Fields.putInt(to, Attributes.CURRENT_STATE, attributes.currentState().code());
        Fields.putInt(to, Attributes.PATH_MTU, attributes.pathMtu().code());
        Fields.putInt(to, Attributes.QUEUE_KEY, attributes.queueKey());
        Fields.putInt(to, Attributes.RECEIVE_PSN, attributes.receivePsn());
        Fields.putInt(to, Attributes.SEND_PSN, attributes.sendPsn());
        Fields.putInt(to, Attributes.DESTINATION_QUEUE_PAIR, attributes.destinationQueuePair());
        Fields.putInt(to, Attributes.ACCESS_FLAGS, AccessFlag.bits(attributes.accessFlags()));
        AddressVector path = attributes.addressVector();
        if (path != null) {
            AddressVectors.write(to, Attributes.PATH, path);
        }
        Fields.putShort(to, Attributes.PARTITION_KEY_INDEX, attributes.partitionKeyIndex());
        Fields.putByte(to, Attributes.MAX_READ_ATOMIC, attributes.maxReadAtomic());
        Fields.putByte(to, Attributes.MAX_DESTINATION_READ_ATOMIC, attributes.maxDestinationReadAtomic());
        Fields.putByte(to, Attributes.MIN_RNR_TIMER, attributes.minRnrTimer());
        Fields.putByte(to, Attributes.PORT, attributes.port());
        Fields.putByte(to, Attributes.TIMEOUT, attributes.timeout());
        Fields.putByte(to, Attributes.RETRY_COUNT, attributes.retryCount());
        Fields.putByte(to, Attributes.RNR_RETRY, attributes.rnrRetry());
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
        return QueuePairState.ofCode(code).orElseThrow(() -> new IllegalArgumentException("queue pair state " + code));
    }

    /** Returns a path. */
    static AddressVector path(MemorySegment from, long at) {
        AddressVector path = AddressVectors.read(from, at);
        return path.withFlowLabel(path.flowLabel() & FLOW_LABEL_MASK);
    }
}
