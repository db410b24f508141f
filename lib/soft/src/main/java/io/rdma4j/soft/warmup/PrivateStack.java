package io.rdma4j.soft.warmup;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.soft.cm.StackCmProvider;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/** One of the {@link PrivateStacks}. Thread safe. */
public final class PrivateStack implements AutoCloseable {
    private final SoftDevices devices;
    private final StackCmProvider cmProvider;
    private final ConnectionManager connectionManager;

    PrivateStack(StackSettings settings) {
        devices = new SoftDevices(settings);
        cmProvider = new StackCmProvider(devices);
        connectionManager = ManagerAccess.managerOf(cmProvider);
    }

    /** Returns the device of the stack. */
    public List<Device> devices() {
        return List.copyOf(devices.list());
    }

    /** Returns the device that has an address. */
    public Optional<Device> deviceOf(InetAddress address) {
        return Optional.ofNullable(devices.of(address));
    }

    /** Returns connection management over the device. */
    public ConnectionManager connectionManager() {
        return connectionManager;
    }

    /** Closes the stack with all its open objects. */
    @Override
    public void close() {
        cmProvider.finish();
        connectionManager.close();
        devices.openContexts().forEach(DeviceContext::close);
        devices.close();
    }
}
