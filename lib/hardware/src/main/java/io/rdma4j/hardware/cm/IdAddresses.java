package io.rdma4j.hardware.cm;

import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.TransportType;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The addresses and the device of one identifier, as the kernel last reported them. Thread safe. */
final class IdAddresses {
    /** Finds a device by the numbers that the kernel reports. */
    @FunctionalInterface
    interface DeviceLookup {
        Optional<? extends Device> find(int deviceIndex, long nodeGuid);
    }

    private final DeviceLookup devices;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress peer;
    private volatile @Nullable Device device;
    private volatile int port;
    private volatile Gid gid = Gid.ZERO;

    IdAddresses(DeviceLookup devices) {
        this.devices = devices;
    }

    /**
     * Queries the addresses from the kernel, and finds the device.
     *
     * @param operation the C name of the call that needs them, for the message
     * @throws io.rdma4j.verbs.RdmaException if the device has been removed
     */
    void update(IdCommands commands, String operation) {
        IdCommands.Addresses now = commands.addresses(operation);
        local = now.local();
        peer = isKnown(now.peer()) ? now.peer() : null;
        if (device == null && now.nodeGuid() != 0) {
            devices.find(now.deviceIndex(), now.nodeGuid()).ifPresent(found -> {
                gid = commands.localGid(operation);
                port = now.port();
                device = found;
            });
        }
    }

    /** For an identifier that is only bound, the kernel reports the wildcard address as the peer. */
    private static boolean isKnown(@Nullable InetSocketAddress peer) {
        return peer != null && !(peer.getPort() == 0 && peer.getAddress().isAnyLocalAddress());
    }

    @Nullable
    InetSocketAddress local() {
        return local;
    }

    @Nullable
    InetSocketAddress peer() {
        return peer;
    }

    @Nullable
    Device device() {
        return device;
    }

    /** Returns the port of the device, from 1; 0 without a device. */
    int port() {
        return port;
    }

    /** Returns the local GID; zero without a device. */
    Gid gid() {
        return gid;
    }

    boolean isIwarp() {
        Device current = device;
        return current != null && current.transportType() == TransportType.IWARP;
    }

    /** Returns whether the link layer of the port is InfiniBand, and not Ethernet. */
    boolean isInfiniBand() {
        Device current = device;
        if (current == null) {
            return false;
        }
        Path linkLayer =
                Path.of("/sys/class/infiniband", current.name(), "ports", Integer.toString(port), "link_layer");
        try {
            return SystemFile.read(linkLayer).equals("InfiniBand");
        } catch (IOException removed) {
            return false;
        }
    }

    /** Returns one line with the addresses, the device and the GID, for messages. */
    String describe() {
        Device current = device;
        String at = current == null ? null : current.name() + " port " + port + ", GID " + gid;
        return ConnectionExplanations.ends(local, peer, at);
    }
}
