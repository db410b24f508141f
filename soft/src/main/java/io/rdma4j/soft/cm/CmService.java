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
 * The connection manager of this process: the protocol machine, and the identifiers that use it.
 *
 * <p>All state is guarded by the host's lock unless stated otherwise.
 */
final class CmService {
    /** An action that runs under the lock; afterwards the machine's messages are sent. */
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

    /** Returns the watch that informs wildcard listeners of new addresses; it has its own lock. */
    AddressWatch addressWatch() {
        return addressWatch;
    }

    /** Returns the port numbers in use; the table has its own lock. */
    PortTable ports() {
        return ports;
    }

    /** Runs an action under the lock; any thread. */
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

    /** Runs an action without a result under the lock; any thread. */
    void run(LongConsumer action) {
        var _ = locked(now -> {
            action.accept(now);
            return this;
        });
    }

    /** Processes a management datagram that arrived at queue pair 1. */
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

    /** Ends the connections with peers on this host that have exited without disconnecting. */
    void onPeersLost(Predicate<CmConnection> isLost) {
        agent.onPeersLost(isLost);
        flush();
    }

    /** Disconnects the peers of a process of this host that has exited without disconnecting. */
    void onAbandonedConnections(List<AbandonedConnection> abandoned) {
        for (AbandonedConnection each : abandoned) {
            agent.disconnectAbandoned(host.nowNanos(), each);
        }
        flush();
    }

    /** Called at the time set by {@link CmHost#wakeAt}. */
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

    /** Returns whether a local address is attached at its current device; any thread, without the lock. */
    boolean isAttached(InetAddress address) {
        LocalEndpoint present = host.find(address);
        return present != null && locked(now -> localEndpoints.contains(present));
    }

    /** Updates the devices of the attached addresses; any thread, without the lock. */
    private void refreshAttachments() {
        for (LocalEndpoint each : locked(now -> List.copyOf(localEndpoints))) {
            LocalEndpoint present = host.find(each.address());
            if (present != null) {
                run(now -> localEndpoints.replaceAll(old -> old.equals(each) ? present : old));
            }
        }
    }

    /**
     * Attaches a loopback address that no process has. Connection requests to it are then rejected at once, as at an
     * address of another process, instead of being retransmitted for a minute. All other addresses of this host are
     * reached from themselves, and so are attached already. Any thread, without the lock.
     */
    void attachVacant(InetAddress destination) {
        if (destination.isLoopbackAddress() && host.isVacant(destination)) {
            try {
                var _ = attach(destination);
            } catch (RdmaException taken) {
                // Another process was faster, and answers.
                return;
            }
        }
    }

    /** Returns the attached address at which a message arrived, or null. */
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

    /** Handles the removal of a device, which affects all identifiers that use it; any thread. */
    void onDeviceRemoved(Device device) {
        locked(now -> {
            localEndpoints.removeIf(each -> each.device().equals(device));
            List.copyOf(identifiers).forEach(id -> id.onDeviceRemoved(device));
            return this;
        });
    }

    /** Handles addresses that were removed from their devices or are reached by another path; any thread. */
    void onAddressesChanged(Predicate<LocalEndpoint> isChanged) {
        refreshAttachments();
        locked(now -> {
            List.copyOf(identifiers).forEach(id -> id.onAddressesChanged(isChanged));
            return this;
        });
    }

    /**
     * Disconnects all peers because this process exits, and expedites the retransmissions to those that have not
     * replied yet; any thread.
     */
    void disconnectAll() {
        locked(now -> {
            for (SoftCmId id : List.copyOf(identifiers)) {
                id.destroyExchange(now);
            }
            agent.expediteDisconnects(now);
            return this;
        });
    }

    /** Returns the open identifiers, as text; any thread. */
    List<String> openIdentifiers() {
        return locked(now -> identifiers.stream().map(SoftCmId::describe).toList());
    }

    /** Returns whether a disconnect is not confirmed yet; any thread. */
    boolean isDisconnecting() {
        return locked(now -> agent.isDisconnecting());
    }
}
