package io.rdma4j.acceptance.traffic;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * The contents of messages: parts of one long random text. Message <i>m</i> begins at an offset that depends on
 * <i>m</i>, so consecutive messages differ. The text is the same in every process. Immutable.
 */
public final class MessagePattern {
    /** Maximum length of a message. */
    public static final int MAX_MESSAGE_BYTES = 1 << 20;

    private static final int OFFSETS = 1 << 16;
    /** A prime, so that all offsets are used. */
    private static final int STRIDE = 4099;

    private final MemorySegment text = Arena.ofAuto().allocate((long) MAX_MESSAGE_BYTES + OFFSETS, 4096);

    /** Generates the text. */
    public MessagePattern() {
        SplittableRandom random = new SplittableRandom(6);
        for (long i = 0; i < text.byteSize(); i += Long.BYTES) {
            text.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    /** Registers the text for sending and for remote reads. */
    public MemoryRegion register(ProtectionDomain domain) {
        return domain.register(text, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /** Copies the text to other memory. */
    void copyTo(MemorySegment memory, long at) {
        MemorySegment.copy(text, 0, memory, at, text.byteSize());
    }

    /** Returns the offset in the text at which a message begins. */
    public static long offset(long message) {
        return message * STRIDE & (OFFSETS - 1);
    }

    /** Returns whether {@code length} bytes of {@code memory} at {@code at} are those of a message. */
    public boolean isIn(MemorySegment memory, long at, long message, long length) {
        long from = offset(message);
        return MemorySegment.mismatch(memory, at, at + length, text, from, from + length) < 0;
    }
}
