package io.rdma4j.simulator;

import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.SendOpcode;

/** A send work request of a run, with its expected effects. */
final class SimulatedOperation {
    /** The work request ID. */
    final long id;

    /** The operation. */
    final SendOpcode opcode;

    /** Length of the message. */
    final int lengthBytes;

    /** True if its success is reported. */
    final boolean signaled;

    /** Offset of a READ's or atomic's result in the requester's result memory. */
    final int resultOffset;

    /** The expected result; empty for operations without one. */
    final byte[] result;

    /** Number of changes of the peer's memory after this operation, including those of earlier operations. */
    final int changesAfter;

    /** The remote key that it uses. */
    final int remoteKey;

    /** True if the peer must refuse it. */
    boolean isProhibited;

    /** An action to run when it has succeeded. */
    Runnable whenDone = () -> {};

    SimulatedOperation(SendRequest request, int lengthBytes, int resultOffset, byte[] result, int changesAfter) {
        this.id = request.workRequestId;
        this.opcode = request.opcode;
        this.lengthBytes = lengthBytes;
        this.signaled = request.signaled;
        this.resultOffset = resultOffset;
        this.result = result;
        this.changesAfter = changesAfter;
        this.remoteKey = request.remoteKey;
    }

    /** Returns whether it consumes a receive of the peer. */
    boolean takesReceive() {
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE_WITH_IMMEDIATE -> true;
            default -> false;
        };
    }

    @Override
    public String toString() {
        return opcode + " of " + lengthBytes + " bytes, number " + id;
    }
}
