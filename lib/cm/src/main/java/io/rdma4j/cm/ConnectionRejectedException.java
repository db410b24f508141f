package io.rdma4j.cm;

import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * Thrown when the peer rejects a connection. Its error is {@code ECONNREFUSED}. No program listens at the peer's port,
 * the peer's backlog is full, or its program has rejected the request.
 */
public final class ConnectionRejectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int reasonNumber;
    private final byte[] privateData;

    /**
     * Creates an exception.
     *
     * @param operation the name of the call
     * @param reasonNumber the number of the reason on the wire, or 0 without a reason
     * @param privateData the private data of the rejection
     * @param details the addresses and the reason, a clause without a full stop
     */
    ConnectionRejectedException(String operation, int reasonNumber, byte[] privateData, String details) {
        super(operation, Errno.ECONNREFUSED, details, "");
        this.reasonNumber = reasonNumber;
        this.privateData = privateData.clone();
    }

    /**
     * Returns the number of the reason on the wire, which is in {@link RejectReason}; 0 without a reason, as on iWARP.
     */
    public int reasonNumber() {
        return reasonNumber;
    }

    /** Returns whether the peer's program rejected the request, and not its device. */
    public boolean isByProgram() {
        return reasonNumber == RejectReason.CONSUMER_DEFINED.code();
    }

    /** Returns a copy of the private data that the peer's program passed to the rejection; zeros follow the data. */
    public byte[] privateData() {
        return privateData.clone();
    }
}
