package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What work requests do with the keys of memory windows: bind, and take back. The rules of binding are those of the
 * specification (C10-72 to C10-75, o10-36.2.2, o10-37.2.30, o10-37.2.40), as Linux rdma_rxe has them.
 */
final class LocalOperations {
    private static final int WINDOW_ACCESS =
            AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC | AccessFlags.ZERO_BASED;

    private LocalOperations() {}

    /** Does a work request that is local; says why it could not be done, or null. */
    static @Nullable WorkStatus execute(SendRequest r, QueuePairMachine queuePair, MemoryTable memory) {
        if (r.opcode == WorkOpcode.LOCAL_INVALIDATE) {
            return memory.invalidate(r.invalidateKey, queuePair) ? null : WorkStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        synchronized (memory) { // the region may be taken back, and the window closed, by others
            return bind(r, queuePair, memory);
        }
    }

    private static @Nullable WorkStatus bind(SendRequest r, QueuePairMachine queuePair, MemoryTable memory) {
        MemoryWindow window = r.window;
        if (window == null || !mayBind(r, window, queuePair.protectionDomain())) {
            return WorkStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        memory.unbind(window);
        int key = window.key() & ~0xff | r.remoteKey & 0xff;
        MemoryRegion region = r.bindRegion;
        if (region == null || r.bindLength == 0) {
            window.set(key, null, null);
            return null;
        }
        boolean isZeroBased = (r.bindAccess & AccessFlags.ZERO_BASED) != 0;
        MemorySegment part;
        try {
            part = region.memory().asSlice(r.bindOffset, r.bindLength);
        } catch (IndexOutOfBoundsException cutShort) {
            return WorkStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        MemoryRegion range = new MemoryRegion(
                part,
                isZeroBased ? 0 : region.address() + r.bindOffset,
                key,
                r.bindAccess,
                window.protectionDomain(),
                window,
                window.isTypeTwo() ? queuePair : null);
        memory.bind(window, range, region);
        return null;
    }

    private static boolean mayBind(SendRequest r, MemoryWindow window, int protectionDomain) {
        MemoryRegion region = r.bindRegion;
        boolean isZeroBased = (r.bindAccess & AccessFlags.ZERO_BASED) != 0;
        boolean hasNothing = region == null || r.bindLength == 0;
        boolean stateAllows = window.isValid()
                && window.protectionDomain() == protectionDomain
                && (r.bindAccess & ~WINDOW_ACCESS) == 0
                && (window.isTypeTwo() ? !window.isBound() && !hasNothing : !isZeroBased);
        return stateAllows && (region == null || hasNothing || regionAllows(r, region, protectionDomain));
    }

    private static boolean regionAllows(SendRequest r, MemoryRegion region, int protectionDomain) {
        boolean changes = (r.bindAccess & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0;
        return region.isValid()
                && region.window() == null
                && region.protectionDomain() == protectionDomain
                && region.allows(AccessFlags.MEMORY_WINDOW_BIND)
                && !region.allows(AccessFlags.ZERO_BASED)
                && (!changes || region.allows(AccessFlags.LOCAL_WRITE))
                && region.containsOffset(r.bindOffset, r.bindLength);
    }
}
