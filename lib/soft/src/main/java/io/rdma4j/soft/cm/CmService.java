package io.rdma4j.soft.cm;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.sharing.HostPort;
import io.rdma4j.sharing.Port;
import io.rdma4j.sharing.ProcessExitHandler;
import io.rdma4j.sharing.Sharing;
import io.rdma4j.sharing.Slot;
import io.rdma4j.soft.device.InterfaceWatch;
import io.rdma4j.soft.device.PeerReputation;
import io.rdma4j.soft.device.RunningStack;
import io.rdma4j.soft.device.SoftDevice;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.engine.DeadlineTask;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.gsi.GsiHandler;
import io.rdma4j.soft.gsi.GsiQueuePair;
import io.rdma4j.soft.gsi.MulticastGroup;
import io.rdma4j.soft.gsi.MulticastGroups;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConfiguration;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmRoute;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of a stack: the protocol machine, the identifiers that use it, and the main engine, which carries its
 * messages.
 *
 * <p>The engine's lock guards the machine. After each input, under the same lock, {@link #flush} passes the machine's events to
 * the identifiers and sends its messages.
 */
final class CmService implements GsiHandler, ProcessExitHandler, InterfaceWatch.Listener {
    /** An action that runs under the lock; afterwards the machine's events and messages are passed on. */
    interface Locked<T extends @Nullable Object> {
        T run(long nowNanos);
    }

    /** The time for which the exit of the process may be delayed to disconnect the peers. */
    private static final long DISCONNECT_MILLIS = 200;

    /** The interval at which to check whether the peers have replied. */
    private static final long REPLY_CHECK_NANOS = 200_000;

    private final SoftDevices devices;
    private final Engine engine;
    private final Sharing sharing;
    private final GsiQueuePair gsi;
    private final MulticastGroups groups;
    private final LocalEndpoints endpoints;
    private final CmAgent agent;
    private final PortTable ports;
    private final AddressWatch addressWatch;

    /** Guarded by itself. */
    private final Set<SoftCmId> identifiers = new LinkedHashSet<>();

    private final DeadlineTask timer = new DeadlineTask() {
        @Override
        protected void onDeadline(long nowNanos) {
            try {
                agent.onDeadline(nowNanos);
            } finally {
                flush();
            }
        }
    };

    /** True when the wait for the replies of disconnected peers is over. */
    private volatile boolean finished;

    private CmService(SoftDevices devices) {
        this.devices = devices;
        RunningStack stack = devices.running();
        engine = stack.engines().main();
        sharing = stack.sharing();
        gsi = stack.gsi();
        groups = stack.groups();
        endpoints = new LocalEndpoints(devices, engine, stack.ports());
        addressWatch = new AddressWatch(devices.host().canChange());
        agent = new CmAgent(configuration());
        PeerReputation peerReputation = devices.peerReputation();
        agent.gate((nowNanos, source) -> !peerReputation.isRefused(source, nowNanos));
        ports = new PortTable(sharing::claims, this::random, engine.clock());
    }

    /** Starts connection management on the main engine. */
    static CmService start(SoftDevices devices) {
        CmService service = new CmService(devices);
        service.setHandlers();
        devices.watch().add(service);
        return service;
    }

    private void setHandlers() {
        engine.lock();
        try {
            gsi.handler(this);
            sharing.exitHandler(this);
        } finally {
            engine.unlock();
        }
    }

    private CmConfiguration configuration() {
        SecurityOptions limits = devices.security();
        return new CmConfiguration(
                devices.guid(),
                () -> Slot.communicationId(engine.slot(), random()), // routes replies to this process
                limits.halfOpen(),
                limits.allowsForeignRequests(),
                CmConfiguration.DEFAULT_FIRST_RETRANSMIT_NANOS,
                limits.requestsPerSecond(),
                limits.requestBurst(),
                limits.connectionsPerPeer());
    }

    /** Returns the main engine, whose lock guards all protocol state. */
    Engine engine() {
        return engine;
    }

    /** Returns the devices of the stack; with or without the lock. */
    SoftDevices devices() {
        return devices;
    }

    /** Returns the local addresses that are ready for traffic. */
    LocalEndpoints endpoints() {
        return endpoints;
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

    /** Returns an unpredictable number; with or without the lock. */
    int random() {
        return engine.random().nextInt();
    }

    // ---- input and output

    /** Runs an action under the lock; any thread. */
    <T extends @Nullable Object> T locked(Locked<T> action) {
        engine.lock();
        try {
            return action.run(engine.nowNanos());
        } finally {
            try {
                flush();
            } finally {
                engine.unlock();
            }
        }
    }

    /** Runs an action without a result under the lock; any thread. */
    void run(LongConsumer action) {
        var _ = locked(now -> {
            action.accept(now);
            return this;
        });
    }

    /** Processes a message. A message that cannot be processed, for lack of memory, is lost as in the network: the peer repeats it. */
    @Override
    public void onGsiPacket(long nowNanos, Port port, Packet packet) {
        try {
            onMessage(nowNanos, port, packet);
        } catch (RuntimeException | Error fault) {
            SharedThread.report(CmService.class, "a message of the connection manager was lost", fault);
        }
        flush();
    }

    private void onMessage(long nowNanos, Port port, Packet packet) {
        Frame frame = packet.frame();
        CmRoute route = new CmRoute(gid(port), new Gid(frame.sourceHigh, frame.sourceLow), port.scope());
        agent.onMad(
                nowNanos,
                new CmDatagram(
                        route, 0, packet.segment().asSlice(packet.dethOffset() + Deth.LENGTH, packet.payloadLength())));
    }

    @Override
    public void onProcessExited(HostPort port, int slot) {
        Gid address = gid(port);
        agent.onPeersLost(connection -> connection.route().matchesPeer(address, port.scope())
                && Slot.ofCommunicationId(connection.remoteId()) == slot);
        flush();
    }

    @Override
    public void onCrashDisconnects(HostPort port, List<AbandonedConnection> connections) {
        endpoints.use(port);
        for (AbandonedConnection each : connections) {
            agent.disconnectAbandoned(engine.nowNanos(), each);
        }
        flush();
    }

    /** Disconnects connections of processes that have exited; returns how many. Any thread, without the lock. */
    int disconnectAbandoned(List<AbandonedConnection> connections) {
        Map<InetAddress, Boolean> isAttached = new HashMap<>();
        List<AbandonedConnection> reachable = connections.stream()
                .filter(each -> isAttached.computeIfAbsent(LocalEndpoint.addressOf(each.route()), endpoints::tryAttach))
                .toList();
        run(now -> reachable.forEach(each -> agent.disconnectAbandoned(now, each)));
        return reachable.size();
    }

    /**
     * Makes another process of this host disconnect a connection if this process is killed; under the lock. Peers on the same
     * address are notified without it ({@link #onProcessExited}).
     */
    private void addCrashDisconnect(CmConnection connection) {
        CmRoute route = connection.route();
        if (!route.matchesPeer(route.local(), route.scope())) {
            sharing.crashDisconnects().add(connection.asAbandonedConnection());
            sharing.registerWithGuardian(engine.nowNanos());
        }
    }

    /** Returns the file with the connections that another process disconnects, or null if there is none. */
    @Nullable
    Path connectionsFile() {
        return sharing.crashDisconnects().path();
    }

    private static Gid gid(Port port) {
        return new Gid(port.high(), port.low());
    }

    /** Passes on all events and messages of the machine; under the lock. */
    private void flush() {
        try {
            AgentEvent event = agent.pollEvent();
            while (event != null) {
                deliverOrEnd(event);
                event = agent.pollEvent();
            }
            CmDatagram datagram = agent.pollTransmit();
            while (datagram != null) {
                send(datagram);
                datagram = agent.pollTransmit();
            }
        } catch (RuntimeException | Error fault) {
            SharedThread.report(
                    CmService.class, "a message of the connection manager was not sent", fault); // the timer repeats it
        }
        engine.schedule(timer, agent.nextDeadlineNanos());
    }

    /** Sends a management datagram, unreliably. */
    private void send(CmDatagram datagram) {
        Port port = endpoints.portOf(datagram.route());
        if (port != null) {
            gsi.send(port, datagram);
        }
    }

    /** Passes an event to its identifier. A connection for which this fails ends, since its identifier does not know its state. */
    private void deliverOrEnd(AgentEvent event) {
        try {
            deliver(event);
        } catch (RuntimeException | Error fault) {
            SharedThread.report(CmService.class, "an event of the connection manager could not be reported", fault);
            if (event instanceof AgentEvent.OfConnection ofConnection) {
                boolean _ = ofConnection.connection().destroy(engine.nowNanos());
            }
        }
    }

    private void deliver(AgentEvent event) {
        switch (event) {
            case AgentEvent.Requested requested ->
                ((SoftCmId) requested.service().attachment()).onRequest(requested.connection());
            case AgentEvent.ServiceRequested requested ->
                ((SoftCmId) requested.request().service().attachment()).onRequest(requested.request());
            case AgentEvent.Opened opened -> {
                addCrashDisconnect(opened.connection());
                deliverToExchange(opened);
            }
            case AgentEvent.Closed closed ->
                sharing.crashDisconnects().remove(closed.connection().localId());
            case AgentEvent.OfConnection ofConnection -> deliverToExchange(ofConnection);
            case AgentEvent.OfResolution ofResolution -> {
                if (ofResolution.resolution().attachment() instanceof DatagramExchange exchange) {
                    exchange.onEvent(ofResolution);
                }
            }
        }
    }

    private void deliverToExchange(AgentEvent.OfConnection event) {
        if (event.connection().attachment() instanceof ConnectionExchange exchange) {
            exchange.onEvent(engine.nowNanos(), event);
        }
    }

    // ---- identifiers

    /** Creates an identifier; see {@link io.rdma4j.cm.spi.CmProvider#create}. */
    ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        return new SoftCmId(this, portSpace, queuePairType, sink);
    }

    /** Registers an identifier, so that it is notified of changes of its device; with or without the lock. */
    void add(SoftCmId id) {
        boolean isNew;
        synchronized (identifiers) {
            isNew = identifiers.add(id);
        }
        if (isNew) {
            devices.objects().onCreated(id);
        }
    }

    /** Reverts {@link #add}; with or without the lock. */
    void remove(SoftCmId id) {
        synchronized (identifiers) {
            identifiers.remove(id);
        }
        devices.objects().onClosed(id);
    }

    private List<SoftCmId> identifiers() {
        synchronized (identifiers) {
            return List.copyOf(identifiers);
        }
    }

    /** Returns the open identifiers, as text; any thread. */
    List<String> openIdentifiers() {
        return identifiers().stream().map(SoftCmId::describe).toList();
    }

    // ---- multicast groups; without the lock

    /**
     * Makes this host a member of a multicast group on the network interface of an attached address.
     *
     * @throws RdmaException if the kernel refuses
     */
    MulticastGroup joinGroup(LocalEndpoint at, Gid group) {
        String networkName = at.device() instanceof SoftDevice soft ? soft.networkName() : "";
        engine.lock();
        try {
            return groups.hold("rdma_join_multicast", group, networkName, at.address());
        } finally {
            engine.unlock();
        }
    }

    /** Reverts {@link #joinGroup}. */
    void leaveGroup(MulticastGroup group) {
        engine.lock();
        try {
            group.release();
        } finally {
            engine.unlock();
        }
    }

    // ---- changes of the network interfaces; without the lock

    @Override
    public void onDeviceRemoved(SoftDevice device) {
        run(now -> {
            endpoints.detach(each -> each.device().equals(device));
            identifiers().forEach(id -> id.onDeviceRemoved(device));
        });
    }

    @Override
    public void onPortChanged(SoftDevice device, boolean isUp) {
        // As in Linux, identifiers get no event: connections survive an interface that comes back.
    }

    @Override
    public void onAddressesChanged(SoftDevice device, Set<InetAddress> removed) {
        onAddressesChanged(at -> at.device().equals(device) && removed.contains(at.address()));
    }

    @Override
    public void onHardwareChanged(SoftDevice device) {
        onAddressesChanged(at -> at.device().equals(device));
    }

    /** Handles addresses that were removed from their devices or are reached by another path. */
    private void onAddressesChanged(Predicate<LocalEndpoint> isChanged) {
        endpoints.refresh();
        run(now -> identifiers().forEach(id -> id.onAddressesChanged(isChanged)));
    }

    // ---- the end

    /**
     * Disconnects all peers because the stack or the process ends. Waits at most {@value #DISCONNECT_MILLIS} ms for an engine
     * lock and for the peers' replies. In virtual time no peer replies during the call, so it does not wait.
     */
    void finish() {
        if (engine.engines().isDriven()) {
            engine.engines().failQueuePairs();
            disconnectIdentifiers();
            return;
        }
        Thread thread = new Thread(this::disconnectAll, "rdma4j-disconnect-all");
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join(DISCONNECT_MILLIS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        finished = true;
    }

    /**
     * Disconnects all peers. Data are stopped first, as in every disconnect. Data that arrive after the DREQ would reach a
     * queue pair that the peer is taking down. rping over Linux's rxe was seen to wait indefinitely for the flush of a
     * receive posted then. No process retransmits the DREQ of a process that has exited, so this one waits for the replies,
     * also for identifiers that were closed before.
     */
    private void disconnectAll() {
        engine.engines().failQueuePairs();
        disconnectIdentifiers();
        while (!finished && isDisconnecting()) {
            boolean _ = engine.poll();
            LockSupport.parkNanos(REPLY_CHECK_NANOS);
        }
    }

    /** Disconnects all peers, and expedites the retransmissions to those that have not replied yet. */
    private void disconnectIdentifiers() {
        run(now -> {
            for (SoftCmId id : identifiers()) {
                id.destroyExchange(now);
            }
            agent.expediteDisconnects(now);
        });
    }

    /** Returns whether a disconnect is not confirmed yet; any thread. */
    boolean isDisconnecting() {
        return locked(now -> agent.isDisconnecting() || agent.pendingAbandonedConnections() > 0);
    }
}
