package io.rdma4j.soft.cm;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.soft.device.AttackWarnings;
import io.rdma4j.soft.device.InterfaceWatch;
import io.rdma4j.soft.device.PeerReputation;
import io.rdma4j.soft.device.RunningStack;
import io.rdma4j.soft.device.SoftDevice;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.engine.DeadlineTask;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.engine.Port;
import io.rdma4j.soft.engine.Slot;
import io.rdma4j.soft.gsi.GsiQueuePair;
import io.rdma4j.soft.gsi.MulticastGroup;
import io.rdma4j.soft.gsi.MulticastGroups;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.soft.sharing.CrashDisconnect;
import io.rdma4j.soft.sharing.PortClaims;
import io.rdma4j.soft.sharing.ProcessExitHandler;
import io.rdma4j.soft.sharing.SharedPort;
import io.rdma4j.soft.sharing.Sharing;
import io.rdma4j.transport.cm.AbandonedConnection;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.transport.cm.ConnectionObserver;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceChoice;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Gid;
import io.rdma4j.wire.Packet;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The host of connection management in the engine. A stack has one. */
final class EngineCmHost implements CmHost {
    /** The exponent that Linux's rxe states, too: an acknowledgement within 134 ms. */
    private static final int LOCAL_ACK_DELAY = 15;

    /** The time for which the exit of the process may be delayed to disconnect the peers. */
    private static final long DISCONNECT_MILLIS = 200;

    /** The interval at which to check whether the peers have replied. */
    private static final long REPLY_CHECK_NANOS = 200_000;

    private final SoftDevices devices;
    private final Engines engines;
    private final Engine engine;
    private final Sharing sharing;
    private final GsiQueuePair gsi;
    private final MulticastGroups groups;
    private final CmService service;

    /** True when the wait for the replies of disconnected peers is over. */
    private volatile boolean finished;

    private final List<Port> ports = new ArrayList<>();
    private final DeadlineTask timer = new DeadlineTask() {
        @Override
        protected void onDeadline(long nowNanos) {
            service.onDeadline(nowNanos);
        }
    };

    private EngineCmHost(SoftDevices devices) {
        this.devices = devices;
        RunningStack stack = devices.running();
        engines = stack.engines();
        engine = engines.main();
        sharing = stack.sharing();
        gsi = stack.gsi();
        groups = stack.groups();
        this.service = new CmService(this);
    }

    /** Joins connection management to the main engine. */
    static EngineCmHost start(SoftDevices devices) {
        EngineCmHost host = new EngineCmHost(devices);
        host.engine.lock();
        try {
            host.gsi.handler(host::onGsiPacket);
            host.sharing.exitHandler(host.new OtherProcesses());
        } finally {
            host.engine.unlock();
        }
        devices.watch().add(host.new Interfaces());
        return host;
    }

    /** Creates an identifier; see {@link io.rdma4j.cm.spi.CmProvider#create}. */
    ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        return new SoftCmId(service, portSpace, queuePairType, sink);
    }

    /** Returns the open identifiers, as text. */
    List<String> openIdentifiers() {
        return service.openIdentifiers();
    }

    /**
     * Disconnects all peers because the stack or the process ends. Waits at most {@value #DISCONNECT_MILLIS} ms for an engine
     * lock and for the peers' replies. In virtual time no peer replies during the call, so it does not wait.
     */
    void finish() {
        if (engines.isDriven()) {
            engines.failQueuePairs();
            service.disconnectAll();
            publishCrashDisconnects();
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
        engines.failQueuePairs();
        service.disconnectAll();
        while (!finished && service.isDisconnecting()) {
            boolean _ = engine.poll();
            LockSupport.parkNanos(REPLY_CHECK_NANOS);
        }
        publishCrashDisconnects();
    }

    /** Publishes that the connections are disconnected, so that no other process does it again. */
    private void publishCrashDisconnects() {
        engine.lock();
        try {
            for (Port port : ports) {
                if (port instanceof SharedPort shared) {
                    shared.publishCrashDisconnects();
                }
            }
        } finally {
            engine.unlock();
        }
    }

    /** Handles changes of the network interfaces. */
    private final class Interfaces implements InterfaceWatch.Listener {
        @Override
        public void onDeviceRemoved(SoftDevice device) {
            service.onDeviceRemoved(device);
        }

        @Override
        public void onPortChanged(SoftDevice device, boolean isUp) {
            // As in Linux, identifiers get no event: connections survive an interface that comes back.
        }

        @Override
        public void onAddressesChanged(SoftDevice device, Set<InetAddress> removed) {
            service.onAddressesChanged(at -> at.device().equals(device) && removed.contains(at.address()));
        }

        @Override
        public void onHardwareChanged(SoftDevice device) {
            service.onAddressesChanged(at -> at.device().equals(device));
        }
    }

    /** Processes a message to queue pair 1. */
    private void onGsiPacket(long nowNanos, Port port, Packet packet) {
        Frame frame = packet.frame();
        service.onMad(
                nowNanos,
                frame.sourceHigh,
                frame.sourceLow,
                port.scope(),
                packet.segment(),
                packet.dethOffset() + Deth.LENGTH,
                packet.payloadLength(),
                port.high(),
                port.low());
    }

    /** Handles the exits of other processes. */
    private final class OtherProcesses implements ProcessExitHandler {
        @Override
        public void onProcessExited(SharedPort port, int slot) {
            Gid address = new Gid(port.high(), port.low());
            service.onPeersLost(connection -> connection.route().matchesPeer(address, port.scope())
                    && Slot.ofCommunicationId(connection.remoteId()) == slot);
        }

        @Override
        public void onCrashDisconnects(SharedPort port, List<CrashDisconnect> crashDisconnects) {
            if (!ports.contains(port)) {
                ports.add(port);
            }
            Gid local = new Gid(port.high(), port.low());
            List<AbandonedConnection> abandoned = new ArrayList<>(crashDisconnects.size());
            for (CrashDisconnect crashDisconnect : crashDisconnects) {
                abandoned.add(new AbandonedConnection(
                        new CmRoute(
                                local,
                                new Gid(crashDisconnect.remoteHigh(), crashDisconnect.remoteLow()),
                                port.scope()),
                        crashDisconnect.trafficClass(),
                        crashDisconnect.localId(),
                        crashDisconnect.localQueuePair(),
                        crashDisconnect.remoteId(),
                        crashDisconnect.remoteQueuePair()));
            }
            service.onAbandonedConnections(abandoned);
        }
    }

    /**
     * Registers each connection as a crash disconnect with another process of this host. Peers on the same address are
     * notified without it ({@link ProcessExitHandler#onProcessExited}).
     */
    private final class CrashDisconnects implements ConnectionObserver {
        @Override
        public void onEstablished(CmConnection connection) {
            Port port = portOf(connection.route());
            if (port instanceof SharedPort shared
                    && !connection.route().matchesPeer(connection.route().local(), port.scope())) {
                AbandonedConnection abandoned = connection.asAbandonedConnection();
                Gid remote = abandoned.route().remote();
                shared.addCrashDisconnect(new CrashDisconnect(
                        abandoned.localId(),
                        abandoned.localQueuePair(),
                        abandoned.remoteId(),
                        abandoned.remoteQueuePair(),
                        abandoned.trafficClass(),
                        remote.high(),
                        remote.low()));
            }
        }

        @Override
        public void onClosed(CmConnection connection) {
            if (portOf(connection.route()) instanceof SharedPort shared) {
                shared.removeCrashDisconnect(connection.localId());
            }
        }
    }

    @Override
    public ConnectionObserver connectionWatch() {
        return new CrashDisconnects();
    }

    private @Nullable Port portOf(CmRoute route) {
        return portOf(route.local().high(), route.local().low(), route.scope());
    }

    private @Nullable Port portOf(long high, long low, int scope) {
        for (Port port : ports) {
            if (CmRoute.isSameLink(port.scope(), scope) && port.high() == high && port.low() == low) {
                return port;
            }
        }
        return null;
    }

    @Override
    public void lock() {
        engine.lock();
    }

    @Override
    public void unlock() {
        engine.unlock();
    }

    @Override
    public StackClock clock() {
        return engine.clock();
    }

    @Override
    public long nowNanos() {
        return engine.nowNanos();
    }

    @Override
    public void wakeAt(long deadlineNanos) {
        engine.schedule(timer, deadlineNanos);
    }

    @Override
    public void send(CmDatagram datagram) {
        Port port = portOf(datagram.localHigh, datagram.localLow, datagram.scope);
        if (port != null) {
            gsi.send(
                    port,
                    datagram.remoteHigh,
                    datagram.remoteLow,
                    datagram.scope,
                    datagram.trafficClass,
                    datagram.mad,
                    0);
        }
    }

    @Override
    public long caGuid() {
        return devices.guid();
    }

    @Override
    public int newCommunicationId() {
        return Slot.communicationId(engine.slot(), random());
    }

    @Override
    public PeerReputation peerReputation() {
        return devices.peerReputation();
    }

    @Override
    public SecurityOptions security() {
        return devices.security();
    }

    @Override
    public AttackWarnings warnings() {
        return devices.warnings();
    }

    @Override
    public int random() {
        return engine.random().nextInt();
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return devices.host().sourceFor(operation, source, destination);
    }

    @Override
    public List<InetAddress> addresses(DeviceChoice choice) {
        List<InetAddress> all = new ArrayList<>();
        for (Device device : choice.devices()) {
            if (device instanceof SoftDevice soft) {
                all.addAll(soft.addresses());
            }
        }
        return all;
    }

    @Override
    public @Nullable LocalEndpoint find(InetAddress address) {
        SoftDevice device = devices.of(address);
        return device == null
                ? null
                : new LocalEndpoint(address, device, device.gidIndex(address), device.activeMtu(), LOCAL_ACK_DELAY);
    }

    @Override
    public @Nullable LocalEndpoint attach(InetAddress address) {
        SoftDevice device = devices.of(address);
        if (device == null) {
            return null;
        }
        Port port = sharing.openPort(engine, address);
        engine.lock();
        try {
            if (!ports.contains(port)) {
                ports.add(port);
            }
        } finally {
            engine.unlock();
        }
        return new LocalEndpoint(port.address(), device, device.gidIndex(address), device.activeMtu(), LOCAL_ACK_DELAY);
    }

    @Override
    public boolean isVacant(InetAddress address) {
        return sharing.isVacant(engine, address);
    }

    @Override
    public PortClaim claimPort(int portSpace, InetAddress local, boolean familyOnly, boolean reuse, int port) {
        PortClaims.Claim claim = sharing.claims().claim(portSpace, local, familyOnly, reuse, port);
        return new PortClaim() {
            @Override
            public void listen() {
                claim.listen();
            }

            @Override
            public void allowReuse() {
                claim.allowReuse();
            }

            @Override
            public void close() {
                claim.close();
            }
        };
    }

    @Override
    public Claim joinGroup(LocalEndpoint at, io.rdma4j.verbs.Gid group) {
        String networkName = at.device() instanceof SoftDevice soft ? soft.networkName() : "";
        engine.lock();
        try {
            MulticastGroup held = groups.hold("rdma_join_multicast", group, networkName, at.address());
            return () -> leaveGroup(held);
        } finally {
            engine.unlock();
        }
    }

    private void leaveGroup(MulticastGroup held) {
        engine.lock();
        try {
            held.release();
        } finally {
            engine.unlock();
        }
    }

    @Override
    public void registerService(InetAddress local, long serviceId) {
        sharing.openSharedPort(engine, local).listen(serviceId);
    }

    @Override
    public void unregisterService(InetAddress local, long serviceId) {
        sharing.openSharedPort(engine, local).close(serviceId);
    }
}
