package io.rdma4j.wire.cm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The body of a CM message. The records are immutable. Numbers keep unknown values, so parsing and emitting a message
 * gives the same bytes, except for reserved bits, which are emitted as zero.
 */
public sealed interface CmMessage permits Req, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep, Lap, Apr {
    /** Returns the type of the message. */
    CmAttribute attribute();

    /** Returns the attribute modifier of the MAD header: the connection enhancement options, or 0. */
    default int attributeModifier() {
        return 0;
    }

    /**
     * Writes all {@link CmMad#BODY_LENGTH} bytes of the body.
     *
     * @param at offset of the body, which is {@link MadHeader#LENGTH} bytes after that of the MAD
     */
    void emitBody(MemorySegment s, long at);

    /**
     * Writes all {@link CmMad#LENGTH} bytes of the MAD.
     *
     * @param at offset of the MAD
     * @param transactionId transaction ID; MRA, REJ, REP and RTU repeat that of the REQ, DREP that of the DREQ
     */
    default void emit(MemorySegment s, long at, long transactionId) {
        MadHeader.of(attribute(), transactionId, attributeModifier()).emit(s, at);
        emitBody(s, at + MadHeader.LENGTH);
    }

    /**
     * Reads a whole MAD.
     *
     * @param at offset of the MAD
     * @param length length of the payload of the packet in bytes
     * @return the message, or null if {@link CmMad#check} does not return OK
     */
    static @Nullable CmMessage parse(MemorySegment s, long at, long length) {
        if (CmMad.check(s, at, length) != CmMad.Result.OK) {
            return null;
        }
        CmAttribute attribute = CmMad.attribute(s, at);
        return attribute == null
                ? null
                : parseBody(attribute, s, at + MadHeader.LENGTH, CmMad.attributeModifier(s, at));
    }

    /**
     * Reads a body. The segment must hold {@link CmMad#BODY_LENGTH} bytes at {@code at}.
     *
     * @param at offset of the body, which is {@link MadHeader#LENGTH} bytes after that of the MAD
     * @param attributeModifier attribute modifier of the MAD header
     */
    static CmMessage parseBody(CmAttribute attribute, MemorySegment s, long at, int attributeModifier) {
        return switch (attribute) {
            case REQ -> Req.parse(s, at, attributeModifier);
            case MRA -> Mra.parse(s, at);
            case REJ -> Rej.parse(s, at);
            case REP -> Rep.parse(s, at, attributeModifier);
            case RTU -> Rtu.parse(s, at);
            case DREQ -> Dreq.parse(s, at);
            case DREP -> Drep.parse(s, at);
            case SIDR_REQ -> SidrReq.parse(s, at);
            case SIDR_REP -> SidrRep.parse(s, at, attributeModifier);
            case LAP -> Lap.parse(s, at);
            case APR -> Apr.parse(s, at);
        };
    }
}
