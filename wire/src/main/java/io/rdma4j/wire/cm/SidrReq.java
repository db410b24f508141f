package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * SIDR_REQ, service ID resolution request: which datagram queue pair serves this ID? Source: InfiniBand Architecture
 * volume 1, 12.11, table 119.
 *
 * @param requestId the sender's number for the request
 * @param partitionKey partition key
 * @param serviceId what the sender wants to reach, see {@link ServiceId}
 * @param privateData 216 bytes; rdma_cm puts an {@link IpCmHeader} first
 */
public record SidrReq(int requestId, int partitionKey, long serviceId, PrivateData privateData) implements CmMessage {
    /** Bytes of private data. */
    public static final int PRIVATE_DATA_LENGTH = 216;

    /** Bytes of private data behind rdma_cm's header: what an application may use. */
    public static final int USER_PRIVATE_DATA_LENGTH = PRIVATE_DATA_LENGTH - IpCmHeader.LENGTH;

    private static final int REQUEST_ID = 0;
    private static final int PARTITION_KEY = 4;
    private static final int RESERVED = 6;
    private static final int SERVICE_ID = 8;
    private static final int PRIVATE_DATA = 16;

    /**
     * Pads the private data.
     *
     * @throws IllegalArgumentException if there is more private data than the message has room for
     */
    public SidrReq {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.SIDR_REQ;
    }

    static SidrReq parse(MemorySegment s, long at) {
        return new SidrReq(
                Wire.u32(s, at + REQUEST_ID),
                Wire.u16(s, at + PARTITION_KEY),
                Wire.u64(s, at + SERVICE_ID),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + REQUEST_ID, requestId);
        Wire.u16(s, at + PARTITION_KEY, partitionKey);
        Wire.u16(s, at + RESERVED, 0);
        Wire.u64(s, at + SERVICE_ID, serviceId);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
