package io.rdma4j.faults.traffic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * What messages consist of: pieces of one long random text, that of message <i>m</i> from a place that depends on
 * <i>m</i>, so that no message has the bytes of its neighbours. The same in every process. Immutable.
 */
public final class MessagePattern {
    /** The longest message. */
    public static final int MAX_MESSAGE_BYTES = 1 << 20;

    private static final int PLACES = 1 << 16;
    /** A prime, so that all places have their turn. */
    private static final int STRIDE = 4099;

    private final MemorySegment text = Arena.ofAuto().allocate((long) MAX_MESSAGE_BYTES + PLACES, 4096);

    /** Makes the text. */
    public MessagePattern() {
        SplittableRandom random = new SplittableRandom(6);
        for (long i = 0; i < text.byteSize(); i += Long.BYTES) {
            text.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    /** Registers the text, to send from it and to let others read it. */
    public MemoryRegion register(ProtectionDomain domain) {
        return domain.register(text, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /** Puts the text into other memory. */
    void copyTo(MemorySegment memory, long at) {
        MemorySegment.copy(text, 0, memory, at, text.byteSize());
    }

    /** Where the bytes of a message begin. */
    public static long offset(long message) {
        return message * STRIDE & (PLACES - 1);
    }

    /** Whether {@code length} bytes of {@code memory} from {@code at} are those of a message. */
    public boolean isIn(MemorySegment memory, long at, long message, long length) {
        long from = offset(message);
        return MemorySegment.mismatch(memory, at, at + length, text, from, from + length) < 0;
    }
}
