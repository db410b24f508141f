package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Executes work requests that bind or invalidate memory windows. The binding rules are those of the specification
 * (C10-72 to C10-75, o10-36.2.2, o10-37.2.30, o10-37.2.40), as implemented by Linux rdma_rxe.
 */
final class LocalOperations {
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_ATOMIC = AccessFlag.REMOTE_ATOMIC.bit();
    private static final int MEMORY_WINDOW_BIND = AccessFlag.MEMORY_WINDOW_BIND.bit();
    private static final int ZERO_BASED = AccessFlag.ZERO_BASED.bit();

    private static final int WINDOW_ACCESS = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | ZERO_BASED;

    private LocalOperations() {}

    /** Executes a local work request. Returns null on success, otherwise the error status. */
    static @Nullable CompletionStatus execute(SendRequest r, QueuePairMachine queuePair, MemoryTable memory) {
        if (r.opcode == SendOpcode.LOCAL_INVALIDATE) {
            return memory.invalidate(r.invalidateKey, queuePair)
                    ? null
                    : CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        synchronized (memory) { // other threads may deregister the region or deallocate the window
            return bind(r, queuePair, memory);
        }
    }

    private static @Nullable CompletionStatus bind(SendRequest r, QueuePairMachine queuePair, MemoryTable memory) {
        MemoryWindow window = r.window;
        if (window == null || !mayBind(r, window, queuePair.protectionDomain())) {
            return CompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        memory.unbind(window);
        int key = window.key() & ~0xff | r.remoteKey & 0xff;
        MemoryRegion region = region(r);
        if (region == null || r.bindLength == 0) {
            window.set(key, null, null);
            return null;
        }
        boolean isZeroBased = (r.bindAccess & ZERO_BASED) != 0;
        MemorySegment slice;
        try {
            slice = region.memory().asSlice(r.bindOffset, r.bindLength);
        } catch (IndexOutOfBoundsException e) {
            return CompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        MemoryRegion range = new MemoryRegion(
                slice,
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
        MemoryRegion region = region(r);
        boolean isZeroBased = (r.bindAccess & ZERO_BASED) != 0;
        boolean isUnbind = region == null || r.bindLength == 0;
        boolean stateAllows = window.isValid()
                && window.protectionDomain() == protectionDomain
                && (r.bindAccess & ~WINDOW_ACCESS) == 0
                && (window.isTypeTwo() ? !window.isBound() && !isUnbind : !isZeroBased);
        return stateAllows && (region == null || isUnbind || regionAllows(r, region, protectionDomain));
    }

    private static @Nullable MemoryRegion region(SendRequest r) {
        return r.bindRegion == null ? null : r.bindRegion.latest();
    }

    private static boolean regionAllows(SendRequest r, MemoryRegion region, int protectionDomain) {
        boolean needsLocalWrite = (r.bindAccess & (REMOTE_WRITE | REMOTE_ATOMIC)) != 0;
        return region.isValid()
                && region.window() == null
                && region.protectionDomain() == protectionDomain
                && region.allows(MEMORY_WINDOW_BIND)
                && !region.allows(ZERO_BASED)
                && (!needsLocalWrite || region.allows(LOCAL_WRITE))
                && region.containsOffset(r.bindOffset, r.bindLength);
    }
}
