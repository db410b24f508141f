package io.rdma4j.soft.cm;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.sharing.PortClaims;
import io.rdma4j.sharing.SharingException;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The port numbers that identifiers of this process have reserved. Thread safe.
 *
 * <p>Port spaces are separate from each other and from the ports of TCP and UDP. The rules are the same as in Linux's rdma_cm.
 * Never used under the engine's lock, since claiming a port for this process accesses the file system.
 */
final class PortTable {
    /** Lower ports require a privilege. */
    private static final int FIRST_UNPRIVILEGED = 1024;

    private static final int CAP_NET_BIND_SERVICE = 10;

    /** The reservation of a port by an identifier. Its flags change with the identifier's options. */
    static final class Hold {
        final PortSpace portSpace;
        final InetSocketAddress local;
        private boolean reuse;
        private boolean familyOnly;
        private boolean listening;
        private PortClaims.@Nullable Claim claim;

        private Hold(PortSpace portSpace, InetSocketAddress local, boolean reuse, boolean familyOnly) {
            this.portSpace = portSpace;
            this.local = local;
            this.reuse = reuse;
            this.familyOnly = familyOnly;
        }
    }

    private record Key(PortSpace portSpace, int port) {}

    private final Supplier<PortClaims> claims;
    private final IntSupplier random;
    private final EphemeralPorts ephemeral;
    private final Map<Key, List<Hold>> holds = new HashMap<>();

    /**
     * Creates an empty table.
     *
     * @param claims the ports that the processes of this host have claimed
     * @param random chooses free ports
     */
    PortTable(Supplier<PortClaims> claims, IntSupplier random, StackClock clock) {
        this.claims = claims;
        this.random = random;
        ephemeral = EphemeralPorts.ofSystem(clock);
    }

    /**
     * Reserves a port.
     *
     * @param local address and port; port 0 for a free one
     * @param reuse true to share the port with others that also allow it
     * @param familyOnly true if a wildcard does not include the other address family
     */
    synchronized Hold reserve(PortSpace portSpace, InetSocketAddress local, boolean reuse, boolean familyOnly) {
        if (local.getPort() == 0) {
            return reserveEphemeral(portSpace, local.getAddress(), reuse, familyOnly);
        }
        if (local.getPort() < FIRST_UNPRIVILEGED && !mayBindLowPorts()) {
            throw new RdmaException(
                    "rdma_bind_addr",
                    Errno.EACCES,
                    "port " + local.getPort() + " of " + AddressText.of(local.getAddress()) + " is below 1024",
                    "Use a port from 1024, or grant the process CAP_NET_BIND_SERVICE");
        }
        Hold hold = new Hold(portSpace, local, reuse, familyOnly);
        Hold conflict = conflict(hold, reuse);
        if (conflict != null) {
            throw taken("rdma_bind_addr", hold, conflict);
        }
        try {
            claim(hold);
        } catch (SharingException refusal) {
            throw refused("rdma_bind_addr", hold, refusal);
        }
        return hold;
    }

    private Hold reserveEphemeral(PortSpace portSpace, InetAddress address, boolean reuse, boolean familyOnly) {
        EphemeralPorts.Range range = ephemeral.range();
        int size = range.size();
        int start = Math.floorMod(random.getAsInt(), size);
        for (int i = 0; i < size; i++) {
            int port = range.first() + (start + i) % size;
            if (!holds.containsKey(new Key(portSpace, port))) {
                Hold hold = new Hold(portSpace, new InetSocketAddress(address, port), reuse, familyOnly);
                try {
                    claim(hold);
                    return hold;
                } catch (SharingException refusal) {
                    if (!isTaken(refusal)) {
                        throw refused("rdma_bind_addr", hold, refusal);
                    }
                }
            }
        }
        throw new RdmaException(
                "rdma_bind_addr",
                Errno.EADDRNOTAVAIL,
                "all RDMA ports from " + range.first() + " to " + range.last() + " are taken",
                "Close identifiers that are not needed, or widen net.ipv4.ip_local_port_range");
    }

    /** Returns whether a claim failed because the port is taken, in which case another port may be free. */
    private static boolean isTaken(SharingException refusal) {
        return refusal.reason() == SharingException.Reason.IN_USE
                || refusal.reason() == SharingException.Reason.UNAVAILABLE;
    }

    private static RdmaException refused(String operation, Hold hold, SharingException refusal) {
        if (!isTaken(refusal)) {
            return SystemFailure.of(operation, refusal);
        }
        String port = "RDMA port " + hold.local.getPort() + " of address " + AddressText.of(hold.local.getAddress());
        return new RdmaException(
                operation, SystemFailure.errno(refusal), port + ": " + refusal.details(), refusal.hint());
    }

    private void claim(Hold hold) throws SharingException {
        int port = hold.local.getPort();
        hold.claim =
                claims.get().claim(hold.portSpace.code(), hold.local.getAddress(), hold.familyOnly, hold.reuse, port);
        holds.computeIfAbsent(new Key(hold.portSpace, port), key -> new ArrayList<>(1))
                .add(hold);
    }

    private static boolean sameAddress(Hold one, Hold other) {
        return Interfaces.areSame(one.local.getAddress(), other.local.getAddress());
    }

    /** Marks a port as listening, which excludes all other identifiers of this and other processes. */
    synchronized void listen(Hold hold) {
        Hold conflict = conflict(hold, false);
        if (conflict != null) {
            throw taken("rdma_listen", hold, conflict);
        }
        try {
            if (hold.claim != null) {
                hold.claim.listen();
            }
        } catch (SharingException refusal) {
            throw refused("rdma_listen", hold, refusal);
        }
        hold.listening = true;
    }

    /** Changes the options of a reservation. A listening port stays exclusive. */
    synchronized void options(Hold hold, boolean reuse, boolean familyOnly) {
        try {
            if (reuse && !hold.listening && hold.claim != null) {
                hold.claim.allowReuse();
            }
        } catch (SharingException refusal) {
            throw refused("rdma_set_option", hold, refusal);
        }
        hold.reuse = reuse;
        hold.familyOnly = familyOnly;
    }

    synchronized void release(Hold hold) {
        Key key = new Key(hold.portSpace, hold.local.getPort());
        List<Hold> all = holds.get(key);
        if (all == null || !all.remove(hold)) {
            return;
        }
        if (hold.claim != null) {
            hold.claim.close();
        }
        if (all.isEmpty()) {
            holds.remove(key);
        }
    }

    /** Returns another identifier's reservation that conflicts with this one, or null. */
    private @Nullable Hold conflict(Hold hold, boolean reuse) {
        for (Hold other : holds.getOrDefault(new Key(hold.portSpace, hold.local.getPort()), List.of())) {
            boolean shared = !other.listening && reuse && other.reuse;
            boolean apart = hold.familyOnly && other.familyOnly && isIpv4(hold) != isIpv4(other);
            if (!other.equals(hold)
                    && !shared
                    && !apart
                    && (isWildcard(hold) || isWildcard(other) || sameAddress(hold, other))) {
                return other;
            }
        }
        return null;
    }

    private static RdmaException taken(String operation, Hold hold, Hold conflict) {
        boolean wildcard = isWildcard(hold) || isWildcard(conflict);
        return new RdmaException(
                operation,
                wildcard ? Errno.EADDRNOTAVAIL : Errno.EADDRINUSE,
                "RDMA port " + AddressText.of(hold.local) + " is taken by an identifier of this process at "
                        + AddressText.of(conflict.local),
                "Use another port, or setReuseAddress(true) on both before binding");
    }

    private static boolean isIpv4(Hold hold) {
        return hold.local.getAddress() instanceof Inet4Address;
    }

    private static boolean isWildcard(Hold hold) {
        return hold.local.getAddress().isAnyLocalAddress();
    }

    /**
     * Returns whether Linux allows this process to bind low ports. Other systems need no check: no kernel is involved.
     */
    private static boolean mayBindLowPorts() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("CapEff:")) {
                    long effective = Long.parseUnsignedLong(line.substring(7).trim(), 16);
                    return (effective >>> CAP_NET_BIND_SERVICE & 1) != 0;
                }
            }
        } catch (IOException | RuntimeException notLinux) {
            return true;
        }
        return true;
    }
}
