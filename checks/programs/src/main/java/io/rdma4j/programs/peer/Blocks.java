package io.rdma4j.programs.peer;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The data that clients send and expect back: different in each operation. Not thread safe. */
final class Blocks {
    private final byte[] block;
    private byte next;

    Blocks(int bytes) {
        block = new byte[bytes];
    }

    /** Returns the block of the next operation, which overwrites that of the previous one. */
    byte[] next() {
        next++;
        for (int i = 0; i < block.length; i += 61) {
            block[i] = (byte) (next + i);
        }
        return block;
    }

    /** Checks that data are those that {@link #next} returned last. */
    void requireSame(byte @Nullable [] received) {
        if (!Arrays.equals(block, received)) {
            throw new IllegalStateException(
                    (received == null ? "no" : received.length + " wrong") + " bytes instead of " + block.length);
        }
    }
}
