package io.rdma4j.soft;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.soft.cm.StackCmProvider;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/**
 * A software RoCEv2 stack: the devices of this host's network interfaces, the engines that drive them, and connection
 * management over them. Thread safe.
 *
 * <p>A stack opens sockets and starts threads when they are first needed, and releases them when it is closed. Several stacks
 * in one process are independent of each other, as those of several processes are: they share the host's addresses.
 */
public final class SoftStack implements AutoCloseable {
    private final SoftDevices devices;
    private final StackCmProvider cmProvider;
    private final ConnectionManager connectionManager;

    private SoftStack(StackSettings settings) {
        devices = new SoftDevices(settings);
        cmProvider = new StackCmProvider(devices);
        connectionManager = ConnectionManager.of(cmProvider);
    }

    /** Creates a stack with the options that the system properties and environment variables of this process name. */
    public static SoftStack create() {
        return new SoftStack(StackSettings.ofProcess());
    }

    /**
     * Returns a device for each network interface that is up and has an address.
     *
     * @throws RdmaException {@code EMFILE} if no file descriptor is left, {@code EIO} if the system does not list its
     *     interfaces for another reason
     */
    public List<Device> devices() {
        return List.copyOf(devices.list());
    }

    /**
     * Returns whether the host has a network interface for a device.
     *
     * @throws RdmaException as {@link #devices}
     */
    public boolean hasDevices() {
        return devices.isAny();
    }

    /**
     * Returns the device that has a local address.
     *
     * @throws RdmaException as {@link #devices}
     */
    public Optional<Device> deviceOf(InetAddress address) {
        return Optional.ofNullable(devices.of(address));
    }

    /** Returns connection management over the devices of this stack. */
    public ConnectionManager connectionManager() {
        return connectionManager;
    }

    /** Returns the provider of connection management, for {@link ConnectionManager#of}. */
    public CmProvider cmProvider() {
        return cmProvider;
    }

    /** Returns the number of packets that are missing in the capture because its file could not be written. */
    public long packetsMissingInCapture() {
        return devices.packetsMissingInCapture();
    }

    /** Returns the inside of the stack, for this project's own tests; its type is not exported. */
    public SoftDevices internals() {
        return devices;
    }

    /**
     * Prepares for the end of the process: disconnects from all peers and sends what is left. The stack works on for other
     * shutdown hooks. Returns within 0.3 seconds, also if a peer does not reply.
     */
    public void finish() {
        cmProvider.finish();
        devices.finish();
    }

    /**
     * Disconnects from all peers, stops the threads and releases sockets, files and memory. Closing twice does nothing.
     * Contexts and identifiers of the stack must be closed before.
     */
    @Override
    public void close() {
        cmProvider.finish();
        devices.close();
    }
}
