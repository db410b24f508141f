package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * APR, alternate path response. Linux ignores it on RoCE. Source: InfiniBand Architecture volume 1, 12.8.2, table 116.
 *
 * @param localCommunicationId the sender's ID of the connection
 * @param remoteCommunicationId the receiver's ID of the connection
 * @param additionalInformationLength number of valid bytes in the additional information; not checked
 * @param status 0 if the path is loaded, otherwise the reason; 8 bits, unknown values are kept
 * @param additionalInformation 72 bytes
 * @param privateData 148 bytes
 */
public record Apr(
        int localCommunicationId,
        int remoteCommunicationId,
        int additionalInformationLength,
        int status,
        PrivateData additionalInformation,
        PrivateData privateData)
        implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 148;

    /** Length of the additional information in bytes. */
    public static final int ADDITIONAL_INFORMATION_LENGTH = 72;

    private static final int LOCAL_ID = 0;
    private static final int REMOTE_ID = 4;
    private static final int INFORMATION_LENGTH = 8;
    private static final int STATUS = 9;
    private static final int RESERVED = 10;
    private static final int INFORMATION = 12;
    private static final int PRIVATE_DATA = 84;

    /**
     * Pads the private data and the additional information.
     *
     * @throws IllegalArgumentException if either is longer than its field
     */
    public Apr {
        additionalInformation = additionalInformation.padded(ADDITIONAL_INFORMATION_LENGTH);
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.APR;
    }

    static Apr parse(MemorySegment s, long at) {
        return new Apr(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u32(s, at + REMOTE_ID),
                Wire.u8(s, at + INFORMATION_LENGTH),
                Wire.u8(s, at + STATUS),
                PrivateData.read(s, at + INFORMATION, ADDITIONAL_INFORMATION_LENGTH),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u32(s, at + REMOTE_ID, remoteCommunicationId);
        Wire.u8(s, at + INFORMATION_LENGTH, additionalInformationLength);
        Wire.u8(s, at + STATUS, status);
        Wire.u16(s, at + RESERVED, 0);
        additionalInformation.write(s, at + INFORMATION);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
