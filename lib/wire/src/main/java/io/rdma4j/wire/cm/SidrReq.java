package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * SIDR_REQ, service ID resolution request: requests the datagram queue pair of a service. Source: InfiniBand
 * Architecture volume 1, 12.11, table 119.
 *
 * @param requestId the sender's ID of the request
 * @param partitionKey partition key
 * @param serviceId requested service, see {@link ServiceId}
 * @param privateData 216 bytes; rdma_cm puts an {@link IpCmHeader} first
 */
public record SidrReq(int requestId, int partitionKey, long serviceId, PrivateData privateData) implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 216;

    /** Length of the private data available to an application after rdma_cm's header, in bytes. */
    public static final int USER_PRIVATE_DATA_LENGTH = PRIVATE_DATA_LENGTH - IpCmHeader.LENGTH;

    private static final int REQUEST_ID = 0;
    private static final int PARTITION_KEY = 4;
    private static final int RESERVED = 6;
    private static final int SERVICE_ID = 8;
    private static final int PRIVATE_DATA = 16;

    /**
     * Pads the private data.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link #PRIVATE_DATA_LENGTH}
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
