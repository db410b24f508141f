package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A CM message read in place, for those who must know whose it is but not what it says.
 *
 * <p>After {@link #check} has returned {@link Result#OK}, no accessor throws. {@code at} is always where the MAD begins.
 */
public final class CmMad {
    /** Bytes of a MAD, always all of them. */
    public static final int LENGTH = 256;

    /** Bytes of a MAD behind its header. */
    public static final int BODY_LENGTH = LENGTH - MadHeader.LENGTH;

    private static final int LOCAL_ID = MadHeader.LENGTH;
    private static final int REMOTE_ID = MadHeader.LENGTH + 4;

    /** What {@link #check} found. Anything but OK is to be counted and dropped, as Linux does. */
    public enum Result {
        /** A CM message that can be read. */
        OK,
        /** Not 256 bytes. */
        BAD_LENGTH,
        /** Base version, management class or class version of something else. */
        NOT_CM,
        /** A method other than Send. */
        BAD_METHOD,
        /** An attribute that is no CM message. */
        UNKNOWN_ATTRIBUTE
    }

    private CmMad() {}

    /**
     * Whether a CM message lies at {@code at}.
     *
     * @param length bytes of payload of the packet that carried it
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

    /** The attribute ID. */
    public static int attributeId(MemorySegment s, long at) {
        return Wire.u16(s, at + MadHeader.O_ATTRIBUTE_ID);
    }

    /** Which message this is, or null where the attribute ID is no CM message's. */
    public static @Nullable CmAttribute attribute(MemorySegment s, long at) {
        return CmAttribute.of(attributeId(s, at));
    }

    /** The attribute modifier. */
    public static int attributeModifier(MemorySegment s, long at) {
        return Wire.u32(s, at + MadHeader.O_ATTRIBUTE_MODIFIER);
    }

    /** The transaction ID. */
    public static long transactionId(MemorySegment s, long at) {
        return Wire.u64(s, at + MadHeader.O_TRANSACTION_ID);
    }

    /** The communication ID that the message's sender gave the connection; of SIDR messages, the request ID. */
    public static int localCommunicationId(MemorySegment s, long at) {
        return Wire.u32(s, at + LOCAL_ID);
    }

    /**
     * The communication ID that the message's receiver gave the connection. REQ and the SIDR messages have none: for them
     * 0, as in a REJ whose sender never learned it.
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
     * The number by which the message's receiver knows what it belongs to: its own communication ID, or of a SIDR_REP its
     * own request ID. 0 for the messages that open something (REQ, SIDR_REQ), and for a REJ without remote ID.
     */
    public static int receiverId(MemorySegment s, long at) {
        return attribute(s, at) == CmAttribute.SIDR_REP ? localCommunicationId(s, at) : remoteCommunicationId(s, at);
    }

    /** The service ID that a REQ, SIDR_REQ or SIDR_REP names; 0 for other messages. */
    public static long serviceId(MemorySegment s, long at) {
        CmAttribute attribute = attribute(s, at);
        if (attribute == CmAttribute.REQ || attribute == CmAttribute.SIDR_REQ) {
            return Wire.u64(s, at + MadHeader.LENGTH + 8);
        }
        return attribute == CmAttribute.SIDR_REP ? Wire.u64(s, at + MadHeader.LENGTH + 12) : 0;
    }
}
