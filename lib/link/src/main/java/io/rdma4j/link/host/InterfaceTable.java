package io.rdma4j.link.host;

import java.net.InetAddress;
import java.net.SocketException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the network interfaces of this host. It is refreshed after {@value #FRESH_NANOS} nanoseconds and whenever a lookup
 * finds nothing. New interfaces and addresses are therefore found immediately, and removed ones are no longer found after that
 * time. Java makes some twenty system calls to find the interface of an address, and setting up a connection looks it up several
 * times. Thread safe.
 */
final class InterfaceTable {
    /** The time for which a snapshot is valid. */
    static final long FRESH_NANOS = 100_000_000;

    /** Lists the interfaces that have an address. */
    interface Lister {
        List<InterfaceView> list() throws SocketException;
    }

    /**
     * An address and its scope. Several interfaces may have the same link-local address; scope 0 selects the first of
     * them.
     */
    private record Key(InetAddress address, int scope) {}

    /** The interfaces at one point in time. */
    private static final class Snapshot {
        private final long atNanos;
        private final Map<String, InterfaceView> byName = new HashMap<>();
        private final Map<Key, InterfaceView> byAddress = new HashMap<>();
        private @Nullable InterfaceView loopback;

        Snapshot(long atNanos, List<InterfaceView> all) throws SocketException {
            this.atNanos = atNanos;
            for (InterfaceView each : all) {
                byName.putIfAbsent(each.name(), each);
                for (InetAddress address : each.addresses()) {
                    byAddress.putIfAbsent(new Key(address, Interfaces.scope(address)), each);
                    byAddress.putIfAbsent(new Key(address, 0), each);
                }
                if (loopback == null && each.addresses().stream().anyMatch(InetAddress::isLoopbackAddress)) {
                    loopback = each.isLoopback() ? each : null;
                }
            }
        }

        boolean isAnyUp() throws SocketException {
            for (InterfaceView each : byName.values()) {
                if (!each.addresses().isEmpty() && each.isUp()) {
                    return true;
                }
            }
            return false;
        }

        @Nullable
        InterfaceView find(InetAddress address) {
            InterfaceView found = byAddress.get(new Key(address, Interfaces.scope(address)));
            return found == null && address.isLoopbackAddress() ? loopback : found;
        }
    }

    private final Lister lister;
    private final LongSupplier clock;
    private volatile @Nullable Snapshot snapshot;

    InterfaceTable(Lister lister, LongSupplier clock) {
        this.lister = lister;
        this.clock = clock;
    }

    /** Returns a table of the system's interfaces. */
    static InterfaceTable ofSystem() {
        return new InterfaceTable(InterfaceTable::listSystem, System::nanoTime);
    }

    private static List<InterfaceView> listSystem() throws SocketException {
        return Interfaces.views();
    }

    /** Returns the interface that has an address, or null. All of 127/8 belongs to the loopback interface. */
    @Nullable
    InterfaceView find(InetAddress address) throws SocketException {
        long now = clock.getAsLong();
        Snapshot current = snapshot;
        InterfaceView found = current == null || isStale(current, now) ? null : current.find(address);
        return found != null ? found : refresh(now).find(address);
    }

    /** Returns the interface of the given name, or null if there is none or it has no address. */
    @Nullable
    InterfaceView named(String name) throws SocketException {
        long now = clock.getAsLong();
        Snapshot current = snapshot;
        InterfaceView found = current == null || isStale(current, now) ? null : current.byName.get(name);
        return found != null ? found : refresh(now).byName.get(name);
    }

    /** Returns whether any interface that has an address is up. */
    boolean isAnyUp() throws SocketException {
        long now = clock.getAsLong();
        Snapshot current = snapshot;
        return current != null && !isStale(current, now) && current.isAnyUp()
                || refresh(now).isAnyUp();
    }

    /** Discards the snapshot, so that the next lookup reads the interfaces again. */
    synchronized void invalidate() {
        snapshot = null;
    }

    private static boolean isStale(Snapshot snapshot, long nowNanos) {
        return nowNanos - snapshot.atNanos >= FRESH_NANOS;
    }

    /**
     * Returns a snapshot taken after {@code requestedNanos}. Of several threads that need one at the same time, only
     * the first reads the interfaces.
     */
    private synchronized Snapshot refresh(long requestedNanos) throws SocketException {
        Snapshot current = snapshot;
        if (current != null && current.atNanos - requestedNanos > 0) {
            return current;
        }
        Snapshot updated = new Snapshot(clock.getAsLong(), lister.list());
        snapshot = updated;
        return updated;
    }
}
