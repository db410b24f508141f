package io.rdma4j.testkit.simulation;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one request does to the peer's memory. */
final class MemoryChange {
    private final int offset;
    private final byte[] before;
    private final byte[] after;
    private final boolean isWhole;

    /**
     * Notes a change.
     *
     * @param offset where
     * @param before the bytes before; not copied
     * @param after the bytes after, as many; not copied
     * @param isWhole whether it is done as a whole or not at all; else packet by packet
     */
    MemoryChange(int offset, byte[] before, byte[] after, boolean isWhole) {
        this.offset = offset;
        this.before = before;
        this.after = after;
        this.isWhole = isWhole;
    }

    /**
     * Whether a memory is as after some of the changes, in their order, the last of them maybe in part.
     *
     * @param memory what is there
     * @param last what was there after all changes
     * @param changes all changes
     * @param least changes that must have been made
     * @param mtuBytes bytes of a packet
     * @return null if it is; else what is wrong
     */
    static @Nullable String explain(byte[] memory, byte[] last, List<MemoryChange> changes, int least, int mtuBytes) {
        byte[] state = last.clone();
        for (int done = changes.size(); !Arrays.equals(memory, state); done--) {
            if (done == least) {
                return "differs from the model after " + done + " of " + changes.size() + " changes, at byte "
                        + Arrays.mismatch(memory, state);
            }
            MemoryChange change = changes.get(done - 1);
            System.arraycopy(change.before, 0, state, change.offset, change.before.length);
            if (!change.isWhole && change.isPartIn(memory, state, mtuBytes)) {
                return null;
            }
        }
        return null;
    }

    /** Whether a memory is as before this change, but for the change's first packets. */
    private boolean isPartIn(byte[] memory, byte[] stateBefore, int mtuBytes) {
        int end = offset + after.length;
        int same = Arrays.mismatch(memory, offset, end, after, 0, after.length);
        int cut = offset + (same < 0 ? after.length : same / mtuBytes * mtuBytes);
        return Arrays.equals(memory, 0, offset, stateBefore, 0, offset)
                && Arrays.equals(memory, cut, memory.length, stateBefore, cut, memory.length);
    }
}
