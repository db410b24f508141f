package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.QueuePairCodec;
import io.rdma4j.verbs.abi.QueuePairMask;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;

/** A change of a queue pair: {@code struct ibv_qp_attr} in native memory. A mask selects its fields. */
final class QueuePairChange {
    /** {@code IBV_QP_RATE_LIMIT}. */
    static final int RATE_LIMIT = 1 << 25;

    private static final int RATE_LIMIT_AT = 136;

    /** {@code IBV_QP_PATH_MIG_STATE}. A program may set {@code IBV_MIG_MIGRATED}: there is no alternate path. */
    private static final int MIGRATION_STATE = 1 << 18;

    private static final int MIGRATION_STATE_AT = 12;
    private static final int MIGRATED = 0;

    private static final String MODIFY = "ibv_modify_qp";
    private static final int BYTE = 0xff;
    private static final int SHORT = 0xffff;
    private static final int PSN = 0xff_ffff;

    private static final int KNOWN = QueuePairMask.STATE
            | QueuePairMask.CURRENT_STATE
            | QueuePairMask.NOTIFY_WHEN_DRAINED
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
            | MIGRATION_STATE
            | RATE_LIMIT;

    private final long from;

    QueuePairChange(long from) {
        this.from = from;
    }

    /**
     * Returns the attributes that a mask selects.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EOPNOTSUPP} for an attribute that no device has, such as an
     *     alternate path
     */
    QueuePairAttributes read(int mask) {
        boolean migrates = (mask & MIGRATION_STATE) != 0 && intAt(MIGRATION_STATE_AT) != MIGRATED;
        if ((mask & ~KNOWN) != 0 || migrates) {
            throw Failures.unsupported(MODIFY, "attributes 0x" + Integer.toHexString(mask));
        }
        QueuePairAttributes attributes = new QueuePairAttributes();
        readState(attributes, mask);
        readPath(attributes, mask);
        readReceiving(attributes, mask);
        readSending(attributes, mask);
        return attributes;
    }

    /** Returns the rate limit in kbit/s. */
    long rateLimit() {
        return intAt(RATE_LIMIT_AT) & 0xffff_ffffL;
    }

    private int intAt(int field) {
        return Native.intAt(from + field);
    }

    private int byteAt(int field) {
        return Native.byteAt(from + field) & BYTE;
    }

    private void readState(QueuePairAttributes attributes, int mask) {
        if ((mask & QueuePairMask.STATE) != 0) {
            attributes.state(state(intAt(QueuePairAttributeFields.STATE)));
        }
        if ((mask & QueuePairMask.CURRENT_STATE) != 0) {
            attributes.currentState(state(intAt(QueuePairAttributeFields.CURRENT_STATE)));
        }
        if ((mask & QueuePairMask.NOTIFY_WHEN_DRAINED) != 0) {
            attributes.notifyWhenDrained(byteAt(QueuePairAttributeFields.NOTIFY_WHEN_DRAINED) != 0);
        }
        if ((mask & QueuePairMask.ACCESS_FLAGS) != 0) {
            attributes.accessFlags(QueuePairCodec.accessFlags(intAt(QueuePairAttributeFields.ACCESS)));
        }
        if ((mask & QueuePairMask.QUEUE_KEY) != 0) {
            attributes.queueKey(intAt(QueuePairAttributeFields.QUEUE_KEY));
        }
    }

    private static QueuePairState state(int code) {
        return QueuePairState.ofCode(code).orElseThrow(() -> Failures.invalid(MODIFY, "state " + code));
    }

    private void readPath(QueuePairAttributes attributes, int mask) {
        if ((mask & QueuePairMask.PARTITION_KEY_INDEX) != 0) {
            attributes.partitionKeyIndex(Native.shortAt(from + QueuePairAttributeFields.PARTITION_KEY_INDEX) & SHORT);
        }
        if ((mask & QueuePairMask.PORT) != 0) {
            attributes.port(byteAt(QueuePairAttributeFields.PORT));
        }
        if ((mask & QueuePairMask.ADDRESS_VECTOR) != 0) {
            attributes.addressVector(Paths.read(MODIFY, from + QueuePairAttributeFields.ADDRESS_VECTOR));
        }
        if ((mask & QueuePairMask.PATH_MTU) != 0) {
            attributes.pathMtu(PathMtu.ofCode(intAt(QueuePairAttributeFields.PATH_MTU)));
        }
        if ((mask & QueuePairMask.DESTINATION_QUEUE_PAIR) != 0) {
            attributes.destinationQueuePair(intAt(QueuePairAttributeFields.DESTINATION_QUEUE_PAIR));
        }
    }

    private void readReceiving(QueuePairAttributes attributes, int mask) {
        if ((mask & QueuePairMask.RECEIVE_PSN) != 0) {
            attributes.receivePsn(intAt(QueuePairAttributeFields.RECEIVE_PSN) & PSN);
        }
        if ((mask & QueuePairMask.MAX_DESTINATION_READ_ATOMIC) != 0) {
            attributes.maxDestinationReadAtomic(byteAt(QueuePairAttributeFields.MAX_DESTINATION_READ_ATOMIC));
        }
        if ((mask & QueuePairMask.MIN_RNR_TIMER) != 0) {
            attributes.minRnrTimer(byteAt(QueuePairAttributeFields.MIN_RNR_TIMER));
        }
    }

    private void readSending(QueuePairAttributes attributes, int mask) {
        if ((mask & QueuePairMask.SEND_PSN) != 0) {
            attributes.sendPsn(intAt(QueuePairAttributeFields.SEND_PSN) & PSN);
        }
        if ((mask & QueuePairMask.TIMEOUT) != 0) {
            attributes.timeout(byteAt(QueuePairAttributeFields.TIMEOUT));
        }
        if ((mask & QueuePairMask.RETRY_COUNT) != 0) {
            attributes.retryCount(byteAt(QueuePairAttributeFields.RETRY_COUNT));
        }
        if ((mask & QueuePairMask.RNR_RETRY) != 0) {
            attributes.rnrRetry(byteAt(QueuePairAttributeFields.RNR_RETRY));
        }
        if ((mask & QueuePairMask.MAX_READ_ATOMIC) != 0) {
            attributes.maxReadAtomic(byteAt(QueuePairAttributeFields.MAX_READ_ATOMIC));
        }
    }
}
