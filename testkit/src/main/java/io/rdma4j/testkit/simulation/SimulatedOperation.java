package io.rdma4j.testkit.simulation;

import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.WorkOpcode;

/** One send work request of a run, with all that the sequential model says of it. */
final class SimulatedOperation {
    /** Its number. */
    final long id;

    /** What it does. */
    final WorkOpcode opcode;

    /** Bytes of the message. */
    final int lengthBytes;

    /** Whether its success is reported. */
    final boolean signaled;

    /** Where in the poster's result memory the bytes of a READ or atomic land. */
    final int resultOffset;

    /** The bytes that must land there; empty for operations without a result. */
    final byte[] result;

    /** Changes of the peer's memory that are made when it is done, those of earlier operations included. */
    final int changesAfter;

    /** Key of the peer's memory that it uses. */
    final int remoteKey;

    /** Whether the peer must refuse it. */
    boolean isProhibited;

    /** What its success means for others. */
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

    /** Whether the peer has a receive completed by it. */
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
