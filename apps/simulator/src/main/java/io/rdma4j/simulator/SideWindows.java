package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.MemoryWindow;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.SendOpcode;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The memory windows of one side of a reliable connection.
 *
 * <p>The side's requests bind them, and the peer uses them once the binding is reported. Either side invalidates them.
 * No request uses a key that is being invalidated.
 */
final class SideWindows {
    private static final int ACCESS =
            AccessFlag.REMOTE_WRITE.bit() | AccessFlag.REMOTE_READ.bit() | AccessFlag.REMOTE_ATOMIC.bit();

    private static final int WINDOWS = 2;
    private static final int MIN_BYTES = 64;
    private static final int KEY_BITS = 0xff;

    /**
     * The peer's access to a window.
     *
     * @param key the remote key
     * @param address the remote address of the first byte
     * @param offset offset of the first byte in the region that the window is bound to
     * @param length length of the window
     * @param isRevocable true if the peer can invalidate the key
     */
    record Grant(int key, long address, int offset, int length, boolean isRevocable) {}

    /** A window; {@code grant} is the access that its last binding grants or granted. */
    private static final class Slot {
        final MemoryWindow window;

        @Nullable
        Grant grant;

        boolean isUsable;
        boolean isBusy;

        Slot(MemoryWindow window) {
            this.window = window;
        }
    }

    private final SimulatedHost host;
    private final MemoryRegion region;
    private final SplittableRandom random;
    private final List<Slot> slots = new ArrayList<>();

    /** Allocates the windows; none if {@code isUsed} is false. */
    SideWindows(SimulatedHost host, MemoryRegion region, boolean isUsed, SplittableRandom random) {
        this.host = host;
        this.region = region;
        this.random = random;
        for (int i = 0; isUsed && i < WINDOWS; i++) {
            slots.add(new Slot(host.memory().allocateWindow(random.nextBoolean(), SideMemory.DOMAIN)));
        }
    }

    /** Returns whether there are windows. */
    boolean areUsed() {
        return !slots.isEmpty();
    }

    /**
     * Fills a request that binds or invalidates a window.
     *
     * @param peer the side whose requests may still use a key
     * @return the action to run when the request has completed, or null if no window can be bound or invalidated
     */
    @Nullable
    Runnable fill(SendRequest request, SimulatedSide peer) {
        for (Slot slot : slots) {
            Grant old = slot.grant;
            if (slot.isBusy || old != null && peer.isUsing(old.key)) {
                continue;
            }
            if (old != null && slot.window.isTypeTwo()) {
                return invalidate(request, slot, old);
            }
            return bind(request, slot);
        }
        return null;
    }

    private Runnable invalidate(SendRequest request, Slot slot, Grant old) {
        slot.isUsable = false;
        slot.isBusy = true;
        request.opcode = SendOpcode.LOCAL_INVALIDATE;
        request.invalidateKey = old.key;
        return () -> free(slot);
    }

    private static void free(Slot slot) {
        slot.isBusy = false;
        slot.isUsable = false;
        slot.grant = null;
    }

    private Runnable bind(SendRequest request, Slot slot) {
        int length = random.nextInt(MIN_BYTES, SideMemory.TARGET_BYTES + 1);
        // Atomics need aligned addresses.
        int offset = random.nextInt(SideMemory.TARGET_BYTES - length + 1) & -Long.BYTES;
        boolean isZeroBased = slot.window.isTypeTwo() && random.nextBoolean();
        int key = slot.window.key() & ~KEY_BITS | random.nextInt(KEY_BITS + 1);
        slot.isUsable = false;
        slot.isBusy = true;
        request.opcode = SendOpcode.BIND_MEMORY_WINDOW;
        request.window = slot.window;
        request.bindRegion = region;
        request.bindOffset = offset;
        request.bindLength = length;
        request.bindAccess = ACCESS | (isZeroBased ? AccessFlag.ZERO_BASED.bit() : 0);
        request.remoteKey = key;
        return () -> {
            slot.isBusy = false;
            slot.isUsable = true;
            slot.grant = new Grant(
                    key, isZeroBased ? 0 : region.address() + offset, offset, length, slot.window.isTypeTwo());
        };
    }

    /** Returns a window that the peer may use for the given number of bytes, or null. */
    @Nullable
    Grant pick(int lengthBytes) {
        for (Slot slot : slots) {
            Grant grant = slot.grant;
            if (slot.isUsable && grant != null && grant.length >= lengthBytes) {
                return grant;
            }
        }
        return null;
    }

    /** Chooses a window that the peer invalidates with its next SEND, and no longer uses; null if there is none. */
    @Nullable
    Grant revoke() {
        for (Slot slot : slots) {
            Grant grant = slot.grant;
            if (slot.isUsable && grant != null && grant.isRevocable) {
                slot.isUsable = false;
                slot.isBusy = true;
                return grant;
            }
        }
        return null;
    }

    /** Notes that the peer has invalidated a key; returns whether that was expected. */
    boolean onRevoked(int key) {
        for (Slot slot : slots) {
            Grant grant = slot.grant;
            if (grant != null && grant.key == key && slot.isBusy && !slot.isUsable) {
                boolean isFree = !slot.window.isBound();
                free(slot);
                return isFree;
            }
        }
        return false;
    }

    /** Deallocates all windows. */
    void release() {
        slots.forEach(slot -> host.memory().deallocate(slot.window));
    }
}
