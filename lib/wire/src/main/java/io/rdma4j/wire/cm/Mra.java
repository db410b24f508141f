package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * MRA, message receipt acknowledgement: a message has been received, but its reply is delayed. Source: InfiniBand
 * Architecture volume 1, 12.6.6, table 107.
 *
 * @param localCommunicationId the sender's ID of the connection
 * @param remoteCommunicationId the receiver's ID of the connection
 * @param message received message: {@link #MESSAGE_REQ}, {@link #MESSAGE_REP} or {@link #MESSAGE_LAP}; 2 bits
 * @param serviceTimeout time until the reply: exponent of 5 bits, see
 *     {@link io.rdma4j.wire.Timers#cmTimeoutNanos}
 * @param privateData 222 bytes
 */
public record Mra(
        int localCommunicationId, int remoteCommunicationId, int message, int serviceTimeout, PrivateData privateData)
        implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 222;

    /** A REQ has been received. */
    public static final int MESSAGE_REQ = 0;

    /** A REP has been received. */
    public static final int MESSAGE_REP = 1;

    /** A LAP has been received. */
    public static final int MESSAGE_LAP = 2;

    private static final int LOCAL_ID = 0;
    private static final int REMOTE_ID = 4;
    private static final int MESSAGE = 8;
    private static final int SERVICE_TIMEOUT = 9;
    private static final int PRIVATE_DATA = 10;

    /**
     * Pads the private data.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link #PRIVATE_DATA_LENGTH}
     */
    public Mra {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.MRA;
    }

    static Mra parse(MemorySegment s, long at) {
        return new Mra(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u32(s, at + REMOTE_ID),
                Wire.u8(s, at + MESSAGE) >>> 6,
                Wire.u8(s, at + SERVICE_TIMEOUT) >>> 3,
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u32(s, at + REMOTE_ID, remoteCommunicationId);
        Wire.u8(s, at + MESSAGE, message << 6);
        Wire.u8(s, at + SERVICE_TIMEOUT, serviceTimeout << 3);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
