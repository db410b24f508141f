package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * SIDR_REP, service ID resolution reply. Source: InfiniBand Architecture volume 1, 12.11, table 120.
 *
 * @param requestId the receiver's ID of the request
 * @param status {@link #STATUS_VALID}, or the reason why there is no queue pair; 8 bits, unknown values are kept
 * @param additionalInformationLength number of valid bytes in the additional information; not checked
 * @param vendorId vendor of the connection enhancement options, 24 bits, 0 for none
 * @param enhancementOptions connection enhancement options as their vendor defines them, 0 for none; they are carried
 *     in the attribute modifier of the MAD header
 * @param queuePair number of the queue pair of the service, 24 bits
 * @param serviceId the requested service ID
 * @param queueKey queue key of the service's queue pair
 * @param additionalInformation 72 bytes
 * @param privateData 136 bytes
 */
public record SidrRep(
        int requestId,
        int status,
        int additionalInformationLength,
        int vendorId,
        int enhancementOptions,
        int queuePair,
        long serviceId,
        int queueKey,
        PrivateData additionalInformation,
        PrivateData privateData)
        implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 136;

    /** Length of the additional information in bytes. */
    public static final int ADDITIONAL_INFORMATION_LENGTH = 72;

    /** The queue pair number and key are valid. */
    public static final int STATUS_VALID = 0;

    /** The service ID is not supported. */
    public static final int STATUS_UNSUPPORTED = 1;

    /** The service rejected the request. */
    public static final int STATUS_REJECTED = 2;

    /** No queue pair is available. */
    public static final int STATUS_NO_QUEUE_PAIR = 3;

    /** The request is redirected to another port. */
    public static final int STATUS_REDIRECT = 4;

    /** The version of the message is not supported. */
    public static final int STATUS_UNSUPPORTED_VERSION = 5;

    private static final int REQUEST_ID = 0;
    private static final int STATUS = 4;
    private static final int INFORMATION_LENGTH = 5;
    private static final int VENDOR_HIGH = 6;
    private static final int QUEUE_PAIR = 8;
    private static final int VENDOR_LOW = 11;
    private static final int SERVICE_ID = 12;
    private static final int QUEUE_KEY = 20;
    private static final int INFORMATION = 24;
    private static final int PRIVATE_DATA = 96;

    /**
     * Pads the private data and the additional information.
     *
     * @throws IllegalArgumentException if either is longer than its field
     */
    public SidrRep {
        additionalInformation = additionalInformation.padded(ADDITIONAL_INFORMATION_LENGTH);
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    /** Creates a reply without additional information. */
    public static SidrRep of(
            int requestId, int status, int queuePair, long serviceId, int queueKey, PrivateData privateData) {
        return new SidrRep(requestId, status, 0, 0, 0, queuePair, serviceId, queueKey, PrivateData.EMPTY, privateData);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.SIDR_REP;
    }

    @Override
    public int attributeModifier() {
        return enhancementOptions;
    }

    static SidrRep parse(MemorySegment s, long at, int attributeModifier) {
        return new SidrRep(
                Wire.u32(s, at + REQUEST_ID),
                Wire.u8(s, at + STATUS),
                Wire.u8(s, at + INFORMATION_LENGTH),
                Wire.u16(s, at + VENDOR_HIGH) << 8 | Wire.u8(s, at + VENDOR_LOW),
                attributeModifier,
                Wire.u24(s, at + QUEUE_PAIR),
                Wire.u64(s, at + SERVICE_ID),
                Wire.u32(s, at + QUEUE_KEY),
                PrivateData.read(s, at + INFORMATION, ADDITIONAL_INFORMATION_LENGTH),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + REQUEST_ID, requestId);
        Wire.u8(s, at + STATUS, status);
        Wire.u8(s, at + INFORMATION_LENGTH, additionalInformationLength);
        Wire.u16(s, at + VENDOR_HIGH, vendorId >>> 8);
        Wire.u24(s, at + QUEUE_PAIR, queuePair);
        Wire.u8(s, at + VENDOR_LOW, vendorId);
        Wire.u64(s, at + SERVICE_ID, serviceId);
        Wire.u32(s, at + QUEUE_KEY, queueKey);
        additionalInformation.write(s, at + INFORMATION);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
