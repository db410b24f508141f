package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Copies between packets and registered memory. No method throws: if the owner has closed the memory, made it read-only
 * or confined it to another thread, the copy fails as for a missing access right.
 */
final class LocalMemory {
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private static final VarHandle ALIGNED = ValueLayout.JAVA_LONG.varHandle();

    private static final @Nullable ForeignMemory FOREIGN = ForeignMemory.chosen();

    private LocalMemory() {}

    /**
     * Returns whether every piece of a list lies in a valid region of the protection domain that has the access rights.
     */
    static boolean isUsable(ScatterGather list, int protectionDomain, int access) {
        for (int i = 0; i < list.count; i++) {
            if (!isUsable(latest(list.regions[i]), protectionDomain, access, list.offsets[i], list.lengths[i])) {
                return false;
            }
        }
        return true;
    }

    /** Returns the region as it is now: its rights may have changed since the work request was posted. */
    private static @Nullable MemoryRegion latest(@Nullable MemoryRegion region) {
        return region == null ? null : region.latest();
    }

    private static boolean isUsable(
            @Nullable MemoryRegion region, int protectionDomain, int access, long offset, long length) {
        return region != null
                && region.isValid()
                && region.protectionDomain() == protectionDomain
                && region.allows(access)
                && region.containsOffset(offset, length);
    }

    /**
     * Copies bytes from offset {@code from} of the memory described by a list to a packet. Returns false if not all
     * could be copied.
     */
    static boolean gather(ScatterGather list, int protectionDomain, long from, int length, MemorySegment out, long at) {
        long skip = from;
        int left = length;
        for (int i = 0; i < list.count && left > 0; i++) {
            long piece = list.lengths[i];
            if (skip >= piece) {
                skip -= piece;
                continue;
            }
            MemoryRegion region = latest(list.regions[i]);
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

    /**
     * Copies bytes of a packet to offset {@code to} of the memory described by a list. Returns false if not all could
     * be copied.
     */
    static boolean scatter(ScatterGather list, int protectionDomain, long to, MemorySegment in, long at, int length) {
        long skip = to;
        int left = length;
        for (int i = 0; i < list.count && left > 0; i++) {
            long piece = list.lengths[i];
            if (skip >= piece) {
                skip -= piece;
                continue;
            }
            MemoryRegion region = latest(list.regions[i]);
            int part = (int) Math.min(left, piece - skip);
            long offset = list.offsets[i] + skip;
            if (region == null
                    || !isUsable(region, protectionDomain, LOCAL_WRITE, offset, part)
                    || !copy(in, at + length - left, region.memory(), offset, part)) {
                return false;
            }
            left -= part;
            skip = 0;
        }
        return left == 0;
    }

    /** Copies bytes. Returns false if the memory cannot be accessed. */
    static boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, int length) {
        try {
            if (FOREIGN != null && from.isNative() && to.isNative()) {
                return FOREIGN.copy(
                        address(from, fromOffset, length, false), address(to, toOffset, length, true), length);
            }
            MemorySegment.copy(from, fromOffset, to, toOffset, length);
            MemoryFaults.report();
            return true;
        } catch (RuntimeException | InternalError e) {
            // The owner may at any time close the memory, make it read-only, confine it to another thread, or truncate
            // a mapped file (InternalError).
            return false;
        }
    }

    /**
     * Exchanges or adds eight bytes in native byte order. The operation is atomic with respect to other operations of
     * the device, and also to the processor's atomics if the memory is aligned for them.
     *
     * @param result receives the original value
     * @return {@code false} if the memory cannot be accessed
     */
    static boolean atomic(
            MemorySegment memory, long offset, boolean isSwap, long compare, long swapOrAdd, long[] result) {
        try {
            if (FOREIGN != null && memory.isNative()) {
                long address = address(memory, offset, Long.BYTES, true);
                return FOREIGN.exchangeOrAdd(address, isSwap, compare, swapOrAdd, result);
            }
            if (isAligned(memory, offset)) {
                result[0] = isSwap
                        ? (long) ALIGNED.compareAndExchange(memory, offset, compare, swapOrAdd)
                        : (long) ALIGNED.getAndAdd(memory, offset, swapOrAdd);
            } else {
                synchronized (ALIGNED) { // other threads may drive queue pairs at the same time
                    long original = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
                    if (!isSwap || original == compare) {
                        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, isSwap ? swapOrAdd : original + swapOrAdd);
                    }
                    result[0] = original;
                }
            }
            MemoryFaults.report();
            return true;
        } catch (RuntimeException | InternalError e) { // as in copy
            return false;
        }
    }

    /**
     * Atomically stores eight bytes in native byte order. Other operations of the device see all of them or none, and
     * so does the processor if the memory is aligned for its atomics. All earlier changes are visible before.
     *
     * @return {@code false} if the memory cannot be accessed
     */
    static boolean atomicWrite(MemorySegment memory, long offset, long value) {
        try {
            if (FOREIGN != null && memory.isNative()) {
                return FOREIGN.store(address(memory, offset, Long.BYTES, true), value);
            }
            if (isAligned(memory, offset)) {
                ALIGNED.setVolatile(memory, offset, value);
            } else {
                synchronized (ALIGNED) {
                    memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
                }
            }
            MemoryFaults.report();
            return true;
        } catch (RuntimeException | InternalError e) { // as in copy
            return false;
        }
    }

    /**
     * Makes earlier changes of a range visible to all threads, and persistent if required, which only a mapped file can be.
     * The latter waits for the storage device: microseconds for persistent memory, milliseconds for a disk.
     *
     * @return {@code false} if the memory cannot be accessed, or was not made persistent
     */
    static boolean flush(MemorySegment memory, long offset, long length, boolean isPersistent) {
        try {
            MemorySegment range = memory.asSlice(offset, length);
            VarHandle.fullFence();
            if (isPersistent) {
                range.force();
            }
            MemoryFaults.report();
            return memory.scope().isAlive();
        } catch (RuntimeException | InternalError e) { // as in copy; a failed write is also an exception
            return false;
        }
    }

    /** Returns the address of a piece of native memory, after the checks of a segment. */
    private static long address(MemorySegment memory, long offset, long length, boolean isWritten) {
        Objects.checkFromIndexSize(offset, length, memory.byteSize());
        if (isWritten && memory.isReadOnly() || !memory.scope().isAlive()) {
            throw new IllegalStateException("the memory is read-only or closed");
        }
        return memory.address() + offset;
    }

    private static boolean isAligned(MemorySegment memory, long offset) {
        return (memory.address() + offset & 7) == 0 && memory.maxByteAlignment() >= Long.BYTES;
    }
}
