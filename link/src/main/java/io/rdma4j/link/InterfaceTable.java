package io.rdma4j.link;

import java.net.InetAddress;
import java.net.SocketException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The network interfaces of this host, looked at again when the last look is older than {@value #FRESH_NANOS} nanoseconds,
 * and whenever something is not found: so what has come is seen at once, and what has gone is not found much longer. Java
 * asks the system some twenty questions to find the interface of an address, and a connection wants to know it several times.
 * Thread safe.
 */
final class InterfaceTable {
    /** How long what was seen is taken to be so. */
    static final long FRESH_NANOS = 100_000_000;

    /** Lists the interfaces that have an address. */
    interface Lister {
        List<InterfaceView> list() throws SocketException;
    }

    /** Several interfaces may have the same link-local address; a scope of 0 means the first of them. */
    private record Key(InetAddress address, int scope) {}

    /** What one look has seen. */
    private static final class Look {
        private final long atNanos;
        private final Map<String, InterfaceView> byName = new HashMap<>();
        private final Map<Key, InterfaceView> byAddress = new HashMap<>();
        private @Nullable InterfaceView loopback;

        Look(long atNanos, List<InterfaceView> all) throws SocketException {
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
    private volatile @Nullable Look last;

    InterfaceTable(Lister lister, LongSupplier clock) {
        this.lister = lister;
        this.clock = clock;
    }

    /** That of the system. */
    static InterfaceTable ofSystem() {
        return new InterfaceTable(InterfaceTable::listSystem, System::nanoTime);
    }

    private static List<InterfaceView> listSystem() throws SocketException {
        return Interfaces.views();
    }

    /** The interface that has an address, or null; all of 127/8 belongs to the loopback interface. */
    @Nullable
    InterfaceView find(InetAddress address) throws SocketException {
        long now = clock.getAsLong();
        Look known = last;
        InterfaceView found = known == null || isOld(known, now) ? null : known.find(address);
        return found != null ? found : look(now).find(address);
    }

    /** The interface of a name, or null if there is none or it has no address. */
    @Nullable
    InterfaceView named(String name) throws SocketException {
        long now = clock.getAsLong();
        Look known = last;
        InterfaceView found = known == null || isOld(known, now) ? null : known.byName.get(name);
        return found != null ? found : look(now).byName.get(name);
    }

    /** Whether an interface that has an address is up. */
    boolean isAnyUp() throws SocketException {
        long now = clock.getAsLong();
        Look known = last;
        return known != null && !isOld(known, now) && known.isAnyUp()
                || look(now).isAnyUp();
    }

    /** Looks again at the next question. */
    synchronized void forget() {
        last = null;
    }

    private static boolean isOld(Look look, long nowNanos) {
        return nowNanos - look.atNanos >= FRESH_NANOS;
    }

    /** Of threads that need a look at the same time only the first looks. */
    private synchronized Look look(long askedNanos) throws SocketException {
        Look known = last;
        if (known != null && known.atNanos - askedNanos > 0) {
            return known;
        }
        Look fresh = new Look(clock.getAsLong(), lister.list());
        last = fresh;
        return fresh;
    }
}
