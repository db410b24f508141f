package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * DREQ, disconnect request. Source: InfiniBand Architecture volume 1, 12.6.10, table 112.
 *
 * @param localCommunicationId the sender's ID of the connection
 * @param remoteCommunicationId the receiver's ID of the connection
 * @param remoteQueuePair the receiver's queue pair number, 24 bits; the receiver ignores the message if it differs
 * @param privateData 220 bytes
 */
public record Dreq(int localCommunicationId, int remoteCommunicationId, int remoteQueuePair, PrivateData privateData)
        implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 220;

    private static final int LOCAL_ID = 0;
    private static final int REMOTE_ID = 4;
    private static final int REMOTE_QUEUE_PAIR = 8;
    private static final int RESERVED = 11;
    private static final int PRIVATE_DATA = 12;

    /**
     * Pads the private data.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link #PRIVATE_DATA_LENGTH}
     */
    public Dreq {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.DREQ;
    }

    static Dreq parse(MemorySegment s, long at) {
        return new Dreq(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u32(s, at + REMOTE_ID),
                Wire.u24(s, at + REMOTE_QUEUE_PAIR),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u32(s, at + REMOTE_ID, remoteCommunicationId);
        Wire.u24(s, at + REMOTE_QUEUE_PAIR, remoteQueuePair);
        Wire.u8(s, at + RESERVED, 0);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
