package io.rdma4j.soft.cm;

import io.rdma4j.soft.device.RunningStack;
import io.rdma4j.soft.device.SoftDevice;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Port;
import io.rdma4j.soft.engine.Slot;
import io.rdma4j.soft.gsi.GsiQueuePair;
import io.rdma4j.soft.gsi.MulticastGroup;
import io.rdma4j.soft.gsi.MulticastGroups;
import io.rdma4j.soft.sharing.PortClaims;
import io.rdma4j.soft.sharing.Sharing;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.DeviceChoice;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The main engine and the devices of a stack, as connection management uses them, and the local addresses that it has made
 * ready for traffic.
 *
 * <p>The engine's lock guards all protocol state. Methods that say so are called under it, all others without it.
 */
final class CmHost {
    /** The exponent that Linux's rxe states, too: an acknowledgement within 134 ms. */
    private static final int LOCAL_ACK_DELAY = 15;

    private final SoftDevices devices;
    private final Engine engine;
    private final Sharing sharing;
    private final GsiQueuePair gsi;
    private final MulticastGroups groups;

    /** Guarded by the engine's lock. */
    private final List<Port> ports = new ArrayList<>();

    /** Guarded by the engine's lock. */
    private final List<LocalEndpoint> localEndpoints = new ArrayList<>();

    CmHost(SoftDevices devices) {
        this.devices = devices;
        RunningStack stack = devices.running();
        engine = stack.engines().main();
        sharing = stack.sharing();
        gsi = stack.gsi();
        groups = stack.groups();
    }

    // ---- the engine

    /** Returns the main engine, whose lock guards all protocol state. */
    Engine engine() {
        return engine;
    }

    /** Returns the devices of the stack; with or without the lock. */
    SoftDevices devices() {
        return devices;
    }

    /** Sets the handler of queue pair 1 and of the exits of other processes. */
    void handlers(CmService service) {
        engine.lock();
        try {
            gsi.handler(service);
            sharing.exitHandler(service);
        } finally {
            engine.unlock();
        }
    }

    /** Sends a management datagram, unreliably; under the lock. */
    void send(CmDatagram datagram) {
        Port port = portOf(datagram.route());
        if (port != null) {
            gsi.send(port, datagram);
        }
    }

    /** Returns an unpredictable number; with or without the lock. */
    int random() {
        return engine.random().nextInt();
    }

    /** Proposes a communication ID that routes replies to this process; under the lock. */
    int newCommunicationId() {
        return Slot.communicationId(engine.slot(), random());
    }

    // ---- the end of this process, or of another one

    /** Lets the engine process what has arrived, then pauses. */
    void pollAndPause(long pauseNanos) {
        boolean _ = engine.poll();
        LockSupport.parkNanos(pauseNanos);
    }

    /**
     * Makes another process of this host disconnect a connection if this one is killed; under the lock. Peers on the same
     * address are notified without it ({@link CmService#onProcessExited}).
     */
    void addCrashDisconnect(CmConnection connection) {
        CmRoute route = connection.route();
        if (!route.matchesPeer(route.local(), route.scope())) {
            sharing.crashDisconnects().add(connection.asAbandonedConnection());
            sharing.registerWithGuardian(engine.nowNanos());
        }
    }

    /** Reverts {@link #addCrashDisconnect}; under the lock. */
    void removeCrashDisconnect(CmConnection connection) {
        sharing.crashDisconnects().remove(connection.localId());
    }

    /** Returns the file with the connections that are added above, or null if there is none. */
    @Nullable
    Path connectionsFile() {
        return sharing.crashDisconnects().path();
    }

    // ---- the stack

    /** Returns the RDMA ports that the processes of this host have claimed. */
    PortClaims portClaims() {
        return sharing.claims();
    }

    // ---- local addresses

    /** Returns the current local addresses of the stack's devices that a choice allows and a wildcard includes. */
    List<InetAddress> addresses(DeviceChoice choice, InetAddress wildcard, boolean familyOnly) {
        boolean ipv4 = wildcard instanceof Inet4Address || !familyOnly;
        boolean ipv6 = !(wildcard instanceof Inet4Address);
        List<InetAddress> all = addresses(choice);
        all.removeIf(address -> address instanceof Inet4Address ? !ipv4 : !ipv6);
        return all;
    }

    /**
     * Makes the local addresses that a wildcard includes ready, as far as possible now. The first use of an address takes tens
     * of milliseconds in a new process: too long between a program's announcement of its port and its listening there.
     */
    void attachAll(DeviceChoice choice, InetAddress wildcard, boolean familyOnly) {
        try {
            for (InetAddress address : addresses(choice, wildcard, familyOnly)) {
                var _ = attach(address);
            }
        } catch (RdmaException refusal) {
            return; // a listen tries again, and reports what fails
        }
    }

    private List<InetAddress> addresses(DeviceChoice choice) {
        List<InetAddress> all = new ArrayList<>();
        for (SoftDevice device : devices.list()) {
            if (choice.allows(device)) {
                all.addAll(device.addresses());
            }
        }
        return all;
    }

    /**
     * Makes a local address ready for traffic.
     *
     * @return null if no device has the address
     * @throws RdmaException if its UDP port cannot be used
     */
    @Nullable
    LocalEndpoint attach(InetAddress address) {
        SoftDevice device = devices.of(address);
        if (device == null) {
            return null;
        }
        Port port = sharing.openPort(engine, address);
        LocalEndpoint localEndpoint = endpoint(port.address(), device);
        engine.lock();
        try {
            use(port);
            localEndpoints.removeIf(localEndpoint::isOfSameAddress);
            localEndpoints.add(localEndpoint);
        } finally {
            engine.unlock();
        }
        return localEndpoint;
    }

    private static LocalEndpoint endpoint(InetAddress address, SoftDevice device) {
        return new LocalEndpoint(address, device, device.gidIndex(address), device.activeMtu(), LOCAL_ACK_DELAY);
    }

    /** Sends from a port from now on; under the lock. */
    void use(Port port) {
        if (!ports.contains(port)) {
            ports.add(port);
        }
    }

    /** Returns the present device of a local address, without making the address ready for traffic; null if none has it. */
    private @Nullable LocalEndpoint find(InetAddress address) {
        SoftDevice device = devices.of(address);
        return device == null ? null : endpoint(address, device);
    }

    /** Returns whether a local address is attached at its current device. */
    boolean isAttached(InetAddress address) {
        LocalEndpoint present = find(address);
        return present != null && attached().contains(present);
    }

    private List<LocalEndpoint> attached() {
        engine.lock();
        try {
            return List.copyOf(localEndpoints);
        } finally {
            engine.unlock();
        }
    }

    /** Updates the devices of the attached addresses. */
    void refreshAttachments() {
        for (LocalEndpoint each : attached()) {
            LocalEndpoint present = find(each.address());
            if (present != null) {
                engine.lock();
                try {
                    localEndpoints.replaceAll(old -> old.equals(each) ? present : old);
                } finally {
                    engine.unlock();
                }
            }
        }
    }

    /** Forgets attached addresses; under the lock. */
    void detach(Predicate<LocalEndpoint> condition) {
        localEndpoints.removeIf(condition);
    }

    /** Returns the attached address at which a message arrived, or null; under the lock. */
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

    private @Nullable Port portOf(CmRoute route) {
        for (Port port : ports) {
            if (CmRoute.isSameLink(port.scope(), route.scope())
                    && port.high() == route.local().high()
                    && port.low() == route.local().low()) {
                return port;
            }
        }
        return null;
    }

    /** Returns whether no process answers at an address of this host, as far as is known now. */
    boolean isVacant(InetAddress address) {
        return sharing.isVacant(engine, address);
    }

    /** Routes connection requests to an attached address for the service ID to this process from now on. */
    void registerService(InetAddress local, long serviceId) {
        sharing.openSharedPort(engine, local).registerService(serviceId);
    }

    /** Reverts {@link #registerService}. */
    void unregisterService(InetAddress local, long serviceId) {
        sharing.openSharedPort(engine, local).unregisterService(serviceId);
    }

    /**
     * Makes this host a member of a multicast group on the network interface of an attached address.
     *
     * @throws io.rdma4j.verbs.RdmaException if the kernel refuses
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
}
