package io.rdma4j.wire.cm;

import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * REJ, reject: the sender refuses the connection. Source: InfiniBand Architecture volume 1, 12.6.7, table 108.
 *
 * @param localCommunicationId the sender's ID of the connection, 0 if it has none
 * @param remoteCommunicationId the receiver's ID of the connection, 0 if the sender does not know it
 * @param message rejected message: {@link #MESSAGE_REQ}, {@link #MESSAGE_REP} or {@link #MESSAGE_OTHER}; 2 bits
 * @param reason reason of the reject, see {@link RejectReason}; 16 bits, unknown numbers are kept
 * @param additionalInformationLength number of valid bytes in the additional information, 7 bits; not checked
 * @param additionalInformation 72 bytes; for reason 4 the sender's CA GUID first, for an invalid address the valid one
 * @param privateData 148 bytes
 */
public record Rej(
        int localCommunicationId,
        int remoteCommunicationId,
        int message,
        int reason,
        int additionalInformationLength,
        PrivateData additionalInformation,
        PrivateData privateData)
        implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 148;

    /** Length of the additional information in bytes. */
    public static final int ADDITIONAL_INFORMATION_LENGTH = 72;

    /** A REQ is rejected. */
    public static final int MESSAGE_REQ = 0;

    /** A REP is rejected. */
    public static final int MESSAGE_REP = 1;

    /** No particular message is rejected. */
    public static final int MESSAGE_OTHER = 2;

    private static final int LOCAL_ID = 0;
    private static final int REMOTE_ID = 4;
    private static final int MESSAGE = 8;
    private static final int INFORMATION_LENGTH = 9;
    private static final int REASON = 10;
    private static final int INFORMATION = 12;
    private static final int PRIVATE_DATA = 84;
    private static final int GUID_LENGTH = 8;

    /**
     * Pads the private data and the additional information.
     *
     * @throws IllegalArgumentException if either is longer than its field
     */
    public Rej {
        additionalInformation = additionalInformation.padded(ADDITIONAL_INFORMATION_LENGTH);
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    /** Creates a reject without additional information. */
    public static Rej of(
            int localCommunicationId, int remoteCommunicationId, int message, RejectReason reason, PrivateData data) {
        return of(localCommunicationId, remoteCommunicationId, message, reason, PrivateData.EMPTY, data);
    }

    /** Creates a reject with additional information, all bytes of which are valid. */
    public static Rej of(
            int localCommunicationId,
            int remoteCommunicationId,
            int message,
            RejectReason reason,
            PrivateData information,
            PrivateData data) {
        return new Rej(
                localCommunicationId,
                remoteCommunicationId,
                message,
                reason.code(),
                information.length(),
                information,
                data);
    }

    /**
     * Creates the reject that a side sends when it has timed out waiting for a reply. It has no remote ID. The receiver
     * finds the connection by the sender's CA GUID, which is the additional information, and by the sender's
     * communication ID.
     */
    public static Rej timeout(int localCommunicationId, int message, long localCaGuid) {
        byte[] guid = new byte[GUID_LENGTH];
        Wire.u64(MemorySegment.ofArray(guid), 0, localCaGuid);
        return of(localCommunicationId, 0, message, RejectReason.TIMEOUT, PrivateData.of(guid), PrivateData.EMPTY);
    }

    /** Returns the number and the meaning of the reason, known or not: {@code "8 (invalid service ID: no listener)"}. */
    public String reasonText() {
        String meaning = RejectReason.ofCode(reason).map(RejectReason::meaning).orElse("reserved reason");
        return reason + " (" + meaning + ")";
    }

    /** Returns the CA GUID of a reject with reason 4, or 0 if it has none. */
    public long informationGuid() {
        return additionalInformationLength < GUID_LENGTH ? 0 : Wire.u64(additionalInformation.segment(), 0);
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.REJ;
    }

    static Rej parse(MemorySegment s, long at) {
        return new Rej(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u32(s, at + REMOTE_ID),
                Wire.u8(s, at + MESSAGE) >>> 6,
                Wire.u16(s, at + REASON),
                Wire.u8(s, at + INFORMATION_LENGTH) >>> 1,
                PrivateData.read(s, at + INFORMATION, ADDITIONAL_INFORMATION_LENGTH),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u32(s, at + REMOTE_ID, remoteCommunicationId);
        Wire.u8(s, at + MESSAGE, message << 6);
        Wire.u8(s, at + INFORMATION_LENGTH, additionalInformationLength << 1);
        Wire.u16(s, at + REASON, reason);
        additionalInformation.write(s, at + INFORMATION);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
