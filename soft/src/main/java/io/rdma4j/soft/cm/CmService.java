package io.rdma4j.soft.cm;

import io.rdma4j.soft.device.PeerReputation;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.transport.cm.AbandonedConnection;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConfiguration;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of this process: the protocol machine, and the identifiers that use it. Everything is under the
 * host's lock but where said otherwise.
 */
final class CmService {
    /** Under the lock, and then whatever the machine wants to send goes out. */
    interface Locked<T extends @Nullable Object> {
        T run(long nowNanos);
    }

    private final CmHost host;
    private final CmAgent agent;
    private final CmDatagram datagram = new CmDatagram();
    private final Set<SoftCmId> identifiers = new LinkedHashSet<>();
    private final PortTable ports;
    private final AddressWatch addressWatch = new AddressWatch();
    private final List<LocalEndpoint> localEndpoints = new ArrayList<>();

    CmService(CmHost host) {
        this.host = host;
        this.agent = new CmAgent(configuration(host));
        PeerReputation peerReputation = host.peerReputation();
        agent.gate((nowNanos, source) -> !peerReputation.isRefused(new Gid(source.high(), source.low()), nowNanos));
        agent.watch(host.connectionWatch());
        this.ports = new PortTable(host);
    }

    private static CmConfiguration configuration(CmHost host) {
        SecurityOptions limits = host.security();
        return new CmConfiguration(
                host.caGuid(),
                host::newCommunicationId,
                limits.halfOpen(),
                limits.allowsForeignRequests(),
                CmConfiguration.DEFAULT_FIRST_RETRANSMIT_NANOS,
                limits.requestsPerSecond(),
                limits.requestBurst(),
                limits.connectionsPerPeer());
    }

    CmHost host() {
        return host;
    }

    CmAgent agent() {
        return agent;
    }

    /** Tells wildcard listeners of new addresses; has its own lock. */
    AddressWatch addressWatch() {
        return addressWatch;
    }

    /** Port numbers in use; has its own lock. */
    PortTable ports() {
        return ports;
    }

    /** Runs something under the lock; any thread. */
    <T extends @Nullable Object> T locked(Locked<T> action) {
        host.lock();
        try {
            T result = action.run(host.nowNanos());
            flush();
            return result;
        } finally {
            host.unlock();
        }
    }

    /** Runs something without a result under the lock; any thread. */
    void run(LongConsumer action) {
        var _ = locked(now -> {
            action.accept(now);
            return this;
        });
    }

    /** Takes a management datagram that came to queue pair 1. */
    void onMad(
            long nowNanos,
            long sourceHigh,
            long sourceLow,
            int scope,
            MemorySegment mad,
            long at,
            int length,
            long localHigh,
            long localLow) {
        agent.onMad(nowNanos, sourceHigh, sourceLow, scope, mad, at, length, localHigh, localLow);
        flush();
    }

    /** Peers on this host have ended without a word. */
    void onPeersLost(Predicate<CmConnection> isLost) {
        agent.onPeersLost(isLost);
        flush();
    }

    /** A process of this host has ended without a word to the peers of these connections. */
    void onOrphans(List<AbandonedConnection> left) {
        for (AbandonedConnection each : left) {
            agent.disconnectAbandoned(host.nowNanos(), each);
        }
        flush();
    }

    /** The time that {@link CmHost#wakeAt} was told has come. */
    void onDeadline(long nowNanos) {
        agent.onDeadline(nowNanos);
        flush();
    }

    private void flush() {
        while (agent.pollTransmit(datagram)) {
            host.send(datagram);
        }
        host.wakeAt(agent.nextDeadlineNanos());
    }

    /**
     * Makes a local address ready for traffic; any thread, without the lock.
     *
     * @return null if no device has the address
     */
    @Nullable
    LocalEndpoint attach(InetAddress address) {
        LocalEndpoint localEndpoint = host.attach(address);
        if (localEndpoint != null) {
            locked(now -> {
                localEndpoints.removeIf(localEndpoint::isOfSameAddress);
                return localEndpoints.add(localEndpoint);
            });
        }
        return localEndpoint;
    }

    /** Whether a local address is attached, and where it is now; any thread, without the lock. */
    boolean isAttached(InetAddress address) {
        LocalEndpoint present = host.find(address);
        return present != null && locked(now -> localEndpoints.contains(present));
    }

    /** Looks where the attached addresses are now, those that are anywhere; any thread, without the lock. */
    private void refreshAttachments() {
        for (LocalEndpoint each : locked(now -> List.copyOf(localEndpoints))) {
            LocalEndpoint present = host.find(each.address());
            if (present != null) {
                run(now -> localEndpoints.replaceAll(old -> old.equals(each) ? present : old));
            }
        }
    }

    /**
     * Takes a loopback address that nobody has, so that whoever connects there is refused at once, as it is where another
     * process has the address; else its requests would be repeated for a minute. All other addresses of this host are
     * reached from themselves, and so are attached already. Any thread, without the lock.
     */
    void attachVacant(InetAddress destination) {
        if (destination.isLoopbackAddress() && host.isVacant(destination)) {
            try {
                var _ = attach(destination);
            } catch (RdmaException taken) {
                // Somebody else was faster, and answers.
                return;
            }
        }
    }

    /** The attached address at which a message came in, or null. */
    @Nullable
    LocalEndpoint localEndpointOf(CmRoute route) {
        for (LocalEndpoint each : localEndpoints) {
            if (CmRoute.isSameLink(each.scope(), route.scope())
                    && each.wireGid().equals(route.local())) {
                return each;
            }
        }
        return null;
    }

    void add(SoftCmId id) {
        identifiers.add(id);
    }

    void remove(SoftCmId id) {
        identifiers.remove(id);
    }

    /** A device has gone, and with it all that identifiers had there; any thread. */
    void onDeviceRemoved(Device device) {
        locked(now -> {
            localEndpoints.removeIf(each -> each.device().equals(device));
            List.copyOf(identifiers).forEach(id -> id.onDeviceRemoved(device));
            return this;
        });
    }

    /** Local addresses have gone from their devices, or are reached in another way; any thread. */
    void onAddressesChanged(Predicate<LocalEndpoint> isChanged) {
        refreshAttachments();
        locked(now -> {
            List.copyOf(identifiers).forEach(id -> id.onAddressesChanged(isChanged));
            return this;
        });
    }

    /** Tells all peers that this process ends, and again and soon those that have been told and do not answer; any thread. */
    void disconnectAll() {
        locked(now -> {
            for (SoftCmId id : List.copyOf(identifiers)) {
                id.part(now);
            }
            agent.expediteDisconnects(now);
            return this;
        });
    }

    /** Returns the open identifiers, as text; any thread. */
    List<String> openIdentifiers() {
        return locked(now -> identifiers.stream().map(SoftCmId::describe).toList());
    }

    /** Whether a peer has not confirmed a disconnection yet; any thread. */
    boolean isDisconnecting() {
        return locked(now -> agent.isDisconnecting());
    }
}
