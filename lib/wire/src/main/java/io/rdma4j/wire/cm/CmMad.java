package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reads in place the fields of a CM message that are needed to route it.
 *
 * <p>After {@link #check} has returned {@link Result#OK}, no accessor throws. {@code at} is always the offset of the
 * MAD.
 */
public final class CmMad {
    /** Fixed length of a MAD in bytes. */
    public static final int LENGTH = 256;

    /** Length of the body of a MAD, which follows its header, in bytes. */
    public static final int BODY_LENGTH = LENGTH - MadHeader.LENGTH;

    private static final int LOCAL_ID = MadHeader.LENGTH;
    private static final int REMOTE_ID = MadHeader.LENGTH + 4;

    /** The result of {@link #check}. Messages with a result other than OK are counted and dropped, as in Linux. */
    public enum Result {
        /** A readable CM message. */
        OK,
        /** The length is not 256 bytes. */
        BAD_LENGTH,
        /** The base version, the management class or the class version is not that of CM. */
        NOT_CM,
        /** The method is not Send. */
        BAD_METHOD,
        /** The attribute is not a CM message. */
        UNKNOWN_ATTRIBUTE
    }

    private CmMad() {}

    /**
     * Checks that the payload of a packet is a CM message.
     *
     * @param length length of the payload in bytes
     */
    public static Result check(MemorySegment s, long at, long length) {
        if (length != LENGTH) {
            return Result.BAD_LENGTH;
        }
        if (Wire.u8(s, at + MadHeader.O_BASE_VERSION) != MadHeader.BASE_VERSION
                || Wire.u8(s, at + MadHeader.O_MANAGEMENT_CLASS) != MadHeader.CLASS_CM
                || Wire.u8(s, at + MadHeader.O_CLASS_VERSION) != MadHeader.CLASS_VERSION_CM) {
            return Result.NOT_CM;
        }
        if (Wire.u8(s, at + MadHeader.O_METHOD) != MadHeader.METHOD_SEND) {
            return Result.BAD_METHOD;
        }
        return CmAttribute.of(attributeId(s, at)) == null ? Result.UNKNOWN_ATTRIBUTE : Result.OK;
    }

    /** Returns the attribute ID. */
    public static int attributeId(MemorySegment s, long at) {
        return Wire.u16(s, at + MadHeader.O_ATTRIBUTE_ID);
    }

    /** Returns the type of the message, or null if no CM message has the attribute ID. */
    public static @Nullable CmAttribute attribute(MemorySegment s, long at) {
        return CmAttribute.of(attributeId(s, at));
    }

    /** Returns the attribute modifier. */
    public static int attributeModifier(MemorySegment s, long at) {
        return Wire.u32(s, at + MadHeader.O_ATTRIBUTE_MODIFIER);
    }

    /** Returns the transaction ID. */
    public static long transactionId(MemorySegment s, long at) {
        return Wire.u64(s, at + MadHeader.O_TRANSACTION_ID);
    }

    /** Returns the sender's communication ID, or the request ID of a SIDR message. */
    public static int localCommunicationId(MemorySegment s, long at) {
        return Wire.u32(s, at + LOCAL_ID);
    }

    /**
     * Returns the receiver's communication ID. It is 0 for REQ and the SIDR messages, which have none, and in a REJ
     * whose sender does not know it.
     */
    public static int remoteCommunicationId(MemorySegment s, long at) {
        CmAttribute attribute = attribute(s, at);
        return attribute == null
                        || attribute == CmAttribute.REQ
                        || attribute == CmAttribute.SIDR_REQ
                        || attribute == CmAttribute.SIDR_REP
                ? 0
                : Wire.u32(s, at + REMOTE_ID);
    }

    /**
     * Returns the ID by which the receiver finds the exchange: its communication ID, or its request ID for a SIDR_REP.
     * It is 0 for the initial messages (REQ, SIDR_REQ), and for a REJ without remote ID.
     */
    public static int receiverId(MemorySegment s, long at) {
        return attribute(s, at) == CmAttribute.SIDR_REP ? localCommunicationId(s, at) : remoteCommunicationId(s, at);
    }

    /** Returns the service ID of a REQ, SIDR_REQ or SIDR_REP, or 0 for other messages. */
    public static long serviceId(MemorySegment s, long at) {
        CmAttribute attribute = attribute(s, at);
        if (attribute == CmAttribute.REQ || attribute == CmAttribute.SIDR_REQ) {
            return Wire.u64(s, at + MadHeader.LENGTH + 8);
        }
        return attribute == CmAttribute.SIDR_REP ? Wire.u64(s, at + MadHeader.LENGTH + 12) : 0;
    }
}
