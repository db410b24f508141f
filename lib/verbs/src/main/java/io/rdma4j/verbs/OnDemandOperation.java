package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import java.util.EnumSet;
import java.util.Set;

/**
 * An operation that may use memory that is registered {@linkplain AccessFlag#ON_DEMAND on demand}. C: {@code enum
 * ibv_odp_transport_cap_bits}.
 */
public enum OnDemandOperation {
    /** SEND. */
    SEND(1),
    /** A receive of the queue pair. */
    RECEIVE(2),
    /** RDMA WRITE. */
    WRITE(4),
    /** RDMA READ. */
    READ(8),
    /** Compare-and-swap and fetch-and-add. */
    ATOMIC(16),
    /** A receive of a shared receive queue. */
    SHARED_RECEIVE(32),
    /** FLUSH. */
    FLUSH(64),
    /** ATOMIC WRITE. */
    ATOMIC_WRITE(128);

    private final int bit;

    OnDemandOperation(int bit) {
        this.bit = bit;
    }

    /** Returns the bit of {@code ibv_odp_transport_cap_bits}. */
    public int bit() {
        return bit;
    }

    /** Returns the operations for a set of bits. Unknown bits are ignored. */
    public static Set<OnDemandOperation> ofBits(int bits) {
        Set<OnDemandOperation> operations = EnumSet.noneOf(OnDemandOperation.class);
        for (OnDemandOperation operation : values()) {
            if ((bits & operation.bit) != 0) {
                operations.add(operation);
            }
        }
        return operations;
    }
}
