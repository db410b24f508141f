package io.rdma4j.cm;

import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * Thrown when the peer rejects a connection: nobody listens at its port, its backlog is full, or its program has rejected the request.
 * Its error is {@code ECONNREFUSED}.
 */
public final class ConnectionRejectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int reasonNumber;
    private final byte[] privateData;

    /**
     * Creates an exception.
     *
     * @param operation the name of the call
     * @param reasonNumber the number of the reason on the wire, 0 if there is none
     * @param privateData the private data of the rejection
     * @param details the addresses and the reason, a clause without a full stop
     */
    ConnectionRejectedException(String operation, int reasonNumber, byte[] privateData, String details) {
        super(operation, Errno.ECONNREFUSED, details, "");
        this.reasonNumber = reasonNumber;
        this.privateData = privateData.clone();
    }

    /**
     * Returns the number of the reason on the wire, which {@link RejectReason} names; 0 if there is none, as with iWARP.
     */
    public int reasonNumber() {
        return reasonNumber;
    }

    /** Returns whether the program at the peer has rejected the request, as opposed to its device. */
    public boolean isByProgram() {
        return reasonNumber == RejectReason.CONSUMER_DEFINED.code();
    }

    /** Returns a copy of the private data that the peer's program has given with the rejection; zeros follow them. */
    public byte[] privateData() {
        return privateData.clone();
    }
}
