package io.rdma4j.simulator;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The change of the peer's memory by one request. */
final class MemoryChange {
    private final int offset;
    private final byte[] before;
    private final byte[] after;
    private final boolean isWhole;

    /**
     * Creates a change.
     *
     * @param offset offset in the memory
     * @param before the bytes before; not copied
     * @param after the bytes after, of equal length; not copied
     * @param isWhole true if the change is atomic; otherwise it is made packet by packet
     */
    MemoryChange(int offset, byte[] before, byte[] after, boolean isWhole) {
        this.offset = offset;
        this.before = before;
        this.after = after;
        this.isWhole = isWhole;
    }

    /**
     * Checks that the memory results from the first changes, in their order. The last of these may be partial.
     *
     * @param memory the memory's content
     * @param last the expected content after all changes
     * @param changes all changes
     * @param least the number of changes that must have been made
     * @param mtuBytes size of a packet's payload
     * @return null if the memory matches, otherwise a description of the difference
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

    /** Returns whether the memory is as before this change, except for the change's first packets. */
    private boolean isPartIn(byte[] memory, byte[] stateBefore, int mtuBytes) {
        int end = offset + after.length;
        int same = Arrays.mismatch(memory, offset, end, after, 0, after.length);
        int cut = offset + (same < 0 ? after.length : same / mtuBytes * mtuBytes);
        return Arrays.equals(memory, 0, offset, stateBefore, 0, offset)
                && Arrays.equals(memory, cut, memory.length, stateBefore, cut, memory.length);
    }
}
