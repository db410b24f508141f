package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * Common header of a management datagram, 24 bytes. Source: InfiniBand Architecture volume 1, 13.4.2.
 *
 * @param baseVersion version of the MAD format, {@link #BASE_VERSION}
 * @param managementClass class of the MAD, {@link #CLASS_CM} for connection management
 * @param classVersion version of the class, {@link #CLASS_VERSION_CM} for connection management
 * @param method method of the MAD, {@link #METHOD_SEND} in every CM message
 * @param status result of a response, 0 in CM messages
 * @param classSpecific 16 bits that the class defines, 0 in CM messages
 * @param transactionId number that associates a response with its request
 * @param attributeId type of the MAD's content, see {@link CmAttribute}
 * @param attributeModifier 32 bits that the attribute defines; Linux uses them for connection enhancement options
 */
public record MadHeader(
        int baseVersion,
        int managementClass,
        int classVersion,
        int method,
        int status,
        int classSpecific,
        long transactionId,
        int attributeId,
        int attributeModifier) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 24;

    /** The only version of the MAD format. */
    public static final int BASE_VERSION = 1;

    /** Management class of connection management. */
    public static final int CLASS_CM = 7;

    /** Version of the connection management class. */
    public static final int CLASS_VERSION_CM = 2;

    /** Method Send: no response of the management class is expected. */
    public static final int METHOD_SEND = 3;

    static final int O_BASE_VERSION = 0;
    static final int O_MANAGEMENT_CLASS = 1;
    static final int O_CLASS_VERSION = 2;
    static final int O_METHOD = 3;
    static final int O_STATUS = 4;
    static final int O_CLASS_SPECIFIC = 6;
    static final int O_TRANSACTION_ID = 8;
    static final int O_ATTRIBUTE_ID = 16;
    static final int O_RESERVED = 18;
    static final int O_ATTRIBUTE_MODIFIER = 20;

    /** Creates the header of a CM message. */
    public static MadHeader of(CmAttribute attribute, long transactionId, int attributeModifier) {
        return new MadHeader(
                BASE_VERSION,
                CLASS_CM,
                CLASS_VERSION_CM,
                METHOD_SEND,
                0,
                0,
                transactionId,
                attribute.id(),
                attributeModifier);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static MadHeader parse(MemorySegment s, long at) {
        return new MadHeader(
                Wire.u8(s, at + O_BASE_VERSION),
                Wire.u8(s, at + O_MANAGEMENT_CLASS),
                Wire.u8(s, at + O_CLASS_VERSION),
                Wire.u8(s, at + O_METHOD),
                Wire.u16(s, at + O_STATUS),
                Wire.u16(s, at + O_CLASS_SPECIFIC),
                Wire.u64(s, at + O_TRANSACTION_ID),
                Wire.u16(s, at + O_ATTRIBUTE_ID),
                Wire.u32(s, at + O_ATTRIBUTE_MODIFIER));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        Wire.u8(s, at + O_BASE_VERSION, baseVersion);
        Wire.u8(s, at + O_MANAGEMENT_CLASS, managementClass);
        Wire.u8(s, at + O_CLASS_VERSION, classVersion);
        Wire.u8(s, at + O_METHOD, method);
        Wire.u16(s, at + O_STATUS, status);
        Wire.u16(s, at + O_CLASS_SPECIFIC, classSpecific);
        Wire.u64(s, at + O_TRANSACTION_ID, transactionId);
        Wire.u16(s, at + O_ATTRIBUTE_ID, attributeId);
        Wire.u16(s, at + O_RESERVED, 0);
        Wire.u32(s, at + O_ATTRIBUTE_MODIFIER, attributeModifier);
    }
}
