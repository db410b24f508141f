package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.MemoryWindow;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.WorkOpcode;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The memory windows of one side of a reliable connection: bound by its requests, used by its peer once the binding is
 * reported, taken back by either. Nobody uses a key that is being taken back.
 */
final class SideWindows {
    private static final int ACCESS = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

    private static final int WINDOWS = 2;
    private static final int LEAST_BYTES = 64;
    private static final int KEY_BITS = 0xff;

    /**
     * What the peer may use.
     *
     * @param key under which key
     * @param address what the peer has to say for the first byte
     * @param offset of the first byte in the memory that the window is of
     * @param length bytes
     * @param canBeTakenBack whether the peer can take the key back
     */
    record Grant(int key, long address, int offset, int length, boolean canBeTakenBack) {}

    /** One window; {@code grant} is what its binding gives, or gave. */
    private static final class Place {
        final MemoryWindow window;

        @Nullable
        Grant grant;

        boolean isUsable;
        boolean isBusy;

        Place(MemoryWindow window) {
            this.window = window;
        }
    }

    private final SimulatedHost host;
    private final MemoryRegion region;
    private final SplittableRandom random;
    private final List<Place> places = new ArrayList<>();

    /** Allocates windows, or none if {@code isUsed} is false. */
    SideWindows(SimulatedHost host, MemoryRegion region, boolean isUsed, SplittableRandom random) {
        this.host = host;
        this.region = region;
        this.random = random;
        for (int i = 0; isUsed && i < WINDOWS; i++) {
            places.add(new Place(host.memory().allocateWindow(random.nextBoolean(), SideMemory.DOMAIN)));
        }
    }

    /**
     * Fills a request that binds a window or takes one back.
     *
     * @param peer whose requests may still use a key
     * @return what to do when the request is done; null if there is nothing to bind or to take back
     */
    @Nullable
    Runnable fill(SendRequest request, SimulatedSide peer) {
        for (Place place : places) {
            Grant old = place.grant;
            if (place.isBusy || old != null && peer.isUsing(old.key)) {
                continue;
            }
            if (old != null && place.window.isTypeTwo()) {
                return takeBack(request, place, old);
            }
            return bind(request, place);
        }
        return null;
    }

    private Runnable takeBack(SendRequest request, Place place, Grant old) {
        place.isUsable = false;
        place.isBusy = true;
        request.opcode = WorkOpcode.LOCAL_INVALIDATE;
        request.invalidateKey = old.key;
        return () -> free(place);
    }

    private static void free(Place place) {
        place.isBusy = false;
        place.isUsable = false;
        place.grant = null;
    }

    private Runnable bind(SendRequest request, Place place) {
        int length = random.nextInt(LEAST_BYTES, SideMemory.TARGET_BYTES + 1);
        // Atomics need aligned addresses.
        int offset = random.nextInt(SideMemory.TARGET_BYTES - length + 1) & -Long.BYTES;
        boolean isZeroBased = place.window.isTypeTwo() && random.nextBoolean();
        int key = place.window.key() & ~KEY_BITS | random.nextInt(KEY_BITS + 1);
        place.isUsable = false;
        place.isBusy = true;
        request.opcode = WorkOpcode.BIND_MEMORY_WINDOW;
        request.window = place.window;
        request.bindRegion = region;
        request.bindOffset = offset;
        request.bindLength = length;
        request.bindAccess = ACCESS | (isZeroBased ? AccessFlags.ZERO_BASED : 0);
        request.remoteKey = key;
        return () -> {
            place.isBusy = false;
            place.isUsable = true;
            place.grant = new Grant(
                    key, isZeroBased ? 0 : region.address() + offset, offset, length, place.window.isTypeTwo());
        };
    }

    /** A window that the peer may use for so many bytes, or null. */
    @Nullable
    Grant pick(int lengthBytes) {
        for (Place place : places) {
            Grant grant = place.grant;
            if (place.isUsable && grant != null && grant.length >= lengthBytes) {
                return grant;
            }
        }
        return null;
    }

    /** A window that the peer is to take back with its next SEND; it uses it no more. Null if there is none. */
    @Nullable
    Grant revoke() {
        for (Place place : places) {
            Grant grant = place.grant;
            if (place.isUsable && grant != null && grant.canBeTakenBack) {
                place.isUsable = false;
                place.isBusy = true;
                return grant;
            }
        }
        return null;
    }

    /** The peer has taken a key back; returns whether it was to. */
    boolean onRevoked(int key) {
        for (Place place : places) {
            Grant grant = place.grant;
            if (grant != null && grant.key == key && place.isBusy && !place.isUsable) {
                boolean isFree = !place.window.isBound();
                free(place);
                return isFree;
            }
        }
        return false;
    }

    /** Takes all windows back. */
    void release() {
        places.forEach(place -> host.memory().deallocate(place.window));
    }
}
