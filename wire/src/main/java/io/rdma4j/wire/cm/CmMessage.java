package io.rdma4j.wire.cm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What a CM message says. The records are immutable; numbers keep whatever bits the network gave them, so that parsing
 * and emitting a message gives the same bytes (but for reserved bits, which are emitted as zero).
 */
public sealed interface CmMessage permits Req, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep, Lap, Apr {
    /** Which message this is. */
    CmAttribute attribute();

    /** What the attribute modifier of the MAD's header says: connection enhancement options, or 0. */
    default int attributeModifier() {
        return 0;
    }

    /**
     * Writes the body; every one of the {@link CmMad#BODY_LENGTH} bytes is written.
     *
     * @param at where the body begins, {@link MadHeader#LENGTH} bytes behind the MAD's beginning
     */
    void emitBody(MemorySegment s, long at);

    /**
     * Writes a whole MAD; every one of the {@link CmMad#LENGTH} bytes is written.
     *
     * @param at where the MAD begins
     * @param transactionId transaction ID: MRA, REJ, REP and RTU repeat the REQ's, DREP the DREQ's
     */
    default void emit(MemorySegment s, long at, long transactionId) {
        MadHeader.of(attribute(), transactionId, attributeModifier()).emit(s, at);
        emitBody(s, at + MadHeader.LENGTH);
    }

    /**
     * Reads a whole MAD.
     *
     * @param at where the MAD begins
     * @param length bytes of payload of the packet that carried it
     * @return the message, or null where {@link CmMad#check} is not OK
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
     * Reads a body; {@link CmMad#BODY_LENGTH} bytes must lie at {@code at}.
     *
     * @param at where the body begins, {@link MadHeader#LENGTH} bytes behind the MAD's beginning
     * @param attributeModifier what the MAD's header says of it
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
