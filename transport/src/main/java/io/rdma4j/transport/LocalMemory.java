package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Copies between packets and registered memory. No method throws: memory that its owner has closed, made read-only or
 * confined to another thread makes the copy fail, as a missing right does.
 */
final class LocalMemory {
    private static final VarHandle ALIGNED = ValueLayout.JAVA_LONG.varHandle();

    private LocalMemory() {}

    /** Whether every piece of a list is registered in the protection domain with the rights and inside its region. */
    static boolean isUsable(ScatterGather list, int protectionDomain, int access) {
        for (int i = 0; i < list.count; i++) {
            if (!isUsable(list.regions[i], protectionDomain, access, list.offsets[i], list.lengths[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean isUsable(
            @Nullable MemoryRegion region, int protectionDomain, int access, long offset, long length) {
        return region != null
                && region.isValid()
                && region.protectionDomain() == protectionDomain
                && region.allows(access)
                && region.containsOffset(offset, length);
    }

    /** Copies bytes {@code from} and up of the memory that a list names to a packet; says whether all could be. */
    static boolean gather(ScatterGather list, int protectionDomain, long from, int length, MemorySegment out, long at) {
        long skip = from;
        int left = length;
        for (int i = 0; i < list.count && left > 0; i++) {
            long piece = list.lengths[i];
            if (skip >= piece) {
                skip -= piece;
                continue;
            }
            MemoryRegion region = list.regions[i];
            int part = (int) Math.min(left, piece - skip);
            long offset = list.offsets[i] + skip;
            if (region == null
                    || !isUsable(region, protectionDomain, 0, offset, part)
                    || !copy(region.memory(), offset, out, at + length - left, part)) {
                return false;
            }
            left -= part;
            skip = 0;
        }
        return left == 0;
    }

    /** Copies bytes of a packet to byte {@code to} and up of the memory that a list names; says whether all could be. */
    static boolean scatter(ScatterGather list, int protectionDomain, long to, MemorySegment in, long at, int length) {
        long skip = to;
        int left = length;
        for (int i = 0; i < list.count && left > 0; i++) {
            long piece = list.lengths[i];
            if (skip >= piece) {
                skip -= piece;
                continue;
            }
            MemoryRegion region = list.regions[i];
            int part = (int) Math.min(left, piece - skip);
            long offset = list.offsets[i] + skip;
            if (region == null
                    || !isUsable(region, protectionDomain, AccessFlags.LOCAL_WRITE, offset, part)
                    || !copy(in, at + length - left, region.memory(), offset, part)) {
                return false;
            }
            left -= part;
            skip = 0;
        }
        return left == 0;
    }

    /** Copies bytes; says whether that was possible. */
    static boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, int length) {
        try {
            MemorySegment.copy(from, fromOffset, to, toOffset, length);
            return true;
        } catch (RuntimeException | InternalError e) {
            // closed, read-only, of another thread, or a mapped file cut short (InternalError): the owner's doing, at
            // any time
            return false;
        }
    }

    /**
     * Exchanges or adds eight bytes in the machine's byte order, atomically among the device's own operations, and with
     * the processor's atomics too where the memory is aligned for them.
     *
     * @param result place for the original value
     * @return whether the memory could be used
     */
    static boolean atomic(
            MemorySegment memory, long offset, boolean isSwap, long compare, long swapOrAdd, long[] result) {
        try {
            if (isAligned(memory, offset)) {
                result[0] = isSwap
                        ? (long) ALIGNED.compareAndExchange(memory, offset, compare, swapOrAdd)
                        : (long) ALIGNED.getAndAdd(memory, offset, swapOrAdd);
            } else {
                synchronized (ALIGNED) { // others may drive queue pairs at the same time
                    long original = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
                    if (!isSwap || original == compare) {
                        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, isSwap ? swapOrAdd : original + swapOrAdd);
                    }
                    result[0] = original;
                }
            }
            return true;
        } catch (RuntimeException | InternalError e) { // as in copy
            return false;
        }
    }

    private static boolean isAligned(MemorySegment memory, long offset) {
        return (memory.address() + offset & 7) == 0 && memory.maxByteAlignment() >= Long.BYTES;
    }
}
