package io.rdma4j.hardware.process;

import io.rdma4j.hardware.device.HardwareDevices;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.spi.VerbsProvider;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/**
 * The provider of this host's RDMA hardware. On a host without RDMA devices it loads no library, and only checks for
 * one folder.
 */
public final class HardwareProvider implements VerbsProvider {
    /** The name of the provider, for messages and for {@code RDMA4J_DEVICE}. */
    public static final String NAME = "hardware";

    /** Creates the provider; for {@link java.util.ServiceLoader}. */
    public HardwareProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return 10;
    }

    @Override
    public List<Device> devices() {
        return List.copyOf(HardwareDevices.list());
    }

    @Override
    public Optional<Device> deviceOf(InetAddress address) {
        return HardwareDevices.of(address).map(Device.class::cast);
    }

    @Override
    public String refusal(InetAddress address) {
        return HardwareDevices.refusal(address);
    }
}
