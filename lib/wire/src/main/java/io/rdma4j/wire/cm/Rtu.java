package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * RTU, ready to use: the active side has received the reply. Source: InfiniBand Architecture volume 1, 12.6.9, table
 * 111.
 *
 * @param localCommunicationId the sender's ID of the connection
 * @param remoteCommunicationId the receiver's ID of the connection
 * @param privateData 224 bytes
 */
public record Rtu(int localCommunicationId, int remoteCommunicationId, PrivateData privateData) implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 224;

    private static final int LOCAL_ID = 0;
    private static final int REMOTE_ID = 4;
    private static final int PRIVATE_DATA = 8;

    /**
     * Pads the private data.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link #PRIVATE_DATA_LENGTH}
     */
    public Rtu {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.RTU;
    }

    static Rtu parse(MemorySegment s, long at) {
        return new Rtu(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u32(s, at + REMOTE_ID),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u32(s, at + REMOTE_ID, remoteCommunicationId);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
