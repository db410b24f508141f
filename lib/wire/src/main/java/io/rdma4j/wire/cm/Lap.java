package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * LAP, load alternate path. Linux ignores it on RoCE. Source: InfiniBand Architecture volume 1, 12.8.1, table 115.
 *
 * @param localCommunicationId the sender's ID of the connection
 * @param remoteCommunicationId the receiver's ID of the connection
 * @param remoteQueuePair the receiver's queue pair number, 24 bits
 * @param remoteResponseTimeout time within which the receiver must reply: exponent of 5 bits
 * @param alternatePath the alternate path
 * @param privateData 168 bytes
 */
public record Lap(
        int localCommunicationId,
        int remoteCommunicationId,
        int remoteQueuePair,
        int remoteResponseTimeout,
        CmPath alternatePath,
        PrivateData privateData)
        implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 168;

    private static final int LOCAL_ID = 0;
    private static final int REMOTE_ID = 4;
    private static final int RESERVED_1 = 8;
    private static final int REMOTE_QUEUE_PAIR = 12;
    private static final int REMOTE_TIMEOUT = 15;
    private static final int RESERVED_2 = 16;
    private static final int ALTERNATE_PATH = 20;
    private static final int PRIVATE_DATA = 64;

    /**
     * Pads the private data.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link #PRIVATE_DATA_LENGTH}
     */
    public Lap {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.LAP;
    }

    static Lap parse(MemorySegment s, long at) {
        return new Lap(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u32(s, at + REMOTE_ID),
                Wire.u24(s, at + REMOTE_QUEUE_PAIR),
                Wire.u8(s, at + REMOTE_TIMEOUT) >>> 3,
                CmPath.parseLap(s, at + ALTERNATE_PATH),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u32(s, at + REMOTE_ID, remoteCommunicationId);
        Wire.u32(s, at + RESERVED_1, 0);
        Wire.u24(s, at + REMOTE_QUEUE_PAIR, remoteQueuePair);
        Wire.u8(s, at + REMOTE_TIMEOUT, remoteResponseTimeout << 3);
        Wire.u32(s, at + RESERVED_2, 0);
        alternatePath.emitLap(s, at + ALTERNATE_PATH);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
