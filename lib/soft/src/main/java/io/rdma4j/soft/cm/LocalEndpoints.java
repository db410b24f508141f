package io.rdma4j.soft.cm;

import io.rdma4j.sharing.Port;
import io.rdma4j.soft.device.SoftDevice;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.SharedPorts;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.DeviceChoice;
import io.rdma4j.wire.cm.CmRoute;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The local addresses that this stack has made ready for traffic, each with its device and the UDP port that it sends from.
 *
 * <p>Methods are called without the engine's lock, unless their documentation requires it.
 */
final class LocalEndpoints {
    /** The exponent that Linux's rxe also reports: an acknowledgement within 134 ms. */
    private static final int LOCAL_ACK_DELAY = 15;

    private final SoftDevices devices;
    private final Engine engine;
    private final SharedPorts ports;

    /** Guarded by the engine's lock. */
    private final List<Port> senders = new ArrayList<>();

    /** Guarded by the engine's lock. */
    private final List<LocalEndpoint> attached = new ArrayList<>();

    LocalEndpoints(SoftDevices devices, Engine engine, SharedPorts ports) {
        this.devices = devices;
        this.engine = engine;
        this.ports = ports;
    }

    /** Returns the current local addresses of the stack's devices that a choice allows and a wildcard includes. */
    List<InetAddress> addresses(DeviceChoice choice, InetAddress wildcard, boolean familyOnly) {
        boolean ipv4 = wildcard instanceof Inet4Address || !familyOnly;
        boolean ipv6 = !(wildcard instanceof Inet4Address);
        List<InetAddress> all = addresses(choice);
        all.removeIf(address -> address instanceof Inet4Address ? !ipv4 : !ipv6);
        return all;
    }

    /**
     * Makes the local addresses that a wildcard includes ready, as far as possible now. The first use of an address takes tens of
     * milliseconds in a new process: too long a gap between announcing a port and listening on it.
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
        Port port = ports.open(engine, address);
        LocalEndpoint localEndpoint = endpoint(port.address(), device);
        engine.lock();
        try {
            use(port);
            attached.removeIf(localEndpoint::isOfSameAddress);
            attached.add(localEndpoint);
        } finally {
            engine.unlock();
        }
        return localEndpoint;
    }

    /**
     * Attaches a loopback address that no process has. Connection requests to it are then rejected immediately, as at an address of
     * another process, instead of being retransmitted for a minute. All other addresses of this host are reached from themselves,
     * and therefore are attached already.
     */
    void attachVacant(InetAddress destination) {
        if (destination.isLoopbackAddress() && ports.isVacant(destination)) {
            boolean _ = tryAttach(destination); // it fails if another process was faster, which then answers
        }
    }

    /** Attaches an address, and returns whether it has a device and a UDP port that can be used. */
    boolean tryAttach(InetAddress local) {
        try {
            return attach(local) != null;
        } catch (RdmaException refusal) {
            return false; // another user's process or the kernel has the address now
        }
    }

    private static LocalEndpoint endpoint(InetAddress address, SoftDevice device) {
        return new LocalEndpoint(address, device, device.gidIndex(address), device.activeMtu(), LOCAL_ACK_DELAY);
    }

    /** Adds a port to those that messages are sent from; under the lock. */
    void use(Port port) {
        if (!senders.contains(port)) {
            senders.add(port);
        }
    }

    /** Returns the current device of a local address, without making the address ready for traffic; null if none has it. */
    private @Nullable LocalEndpoint find(InetAddress address) {
        SoftDevice device = devices.of(address);
        return device == null ? null : endpoint(address, device);
    }

    /** Returns whether a local address is attached at its current device. */
    boolean isAttached(InetAddress address) {
        LocalEndpoint present = find(address);
        return present != null && snapshot().contains(present);
    }

    private List<LocalEndpoint> snapshot() {
        engine.lock();
        try {
            return List.copyOf(attached);
        } finally {
            engine.unlock();
        }
    }

    /** Updates the devices of the attached addresses. */
    void refresh() {
        for (LocalEndpoint each : snapshot()) {
            LocalEndpoint present = find(each.address());
            if (present != null) {
                engine.lock();
                try {
                    attached.replaceAll(old -> old.equals(each) ? present : old);
                } finally {
                    engine.unlock();
                }
            }
        }
    }

    /** Forgets attached addresses; under the lock. */
    void detach(Predicate<LocalEndpoint> condition) {
        attached.removeIf(condition);
    }

    /** Returns the attached address at which a message arrived, or null; under the lock. */
    @Nullable
    LocalEndpoint of(CmRoute route) {
        for (LocalEndpoint each : attached) {
            if (CmRoute.isSameLink(each.scope(), route.scope()) && each.gid().equals(route.local())) {
                return each;
            }
        }
        return null;
    }

    /** Returns the port that messages of a route are sent from, or null; under the lock. */
    @Nullable
    Port portOf(CmRoute route) {
        for (Port port : senders) {
            if (CmRoute.isSameLink(port.scope(), route.scope())
                    && port.high() == route.local().high()
                    && port.low() == route.local().low()) {
                return port;
            }
        }
        return null;
    }

    /** Routes connection requests for the service ID at an attached address to this process. */
    void registerService(InetAddress local, long serviceId) {
        ports.registerService(local, serviceId);
    }

    /** Reverts {@link #registerService}. */
    void unregisterService(InetAddress local, long serviceId) {
        ports.unregisterService(local, serviceId);
    }
}
