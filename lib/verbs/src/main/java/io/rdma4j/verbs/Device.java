package io.rdma4j.verbs;

import io.rdma4j.verbs.spi.DeviceChoice;
import io.rdma4j.verbs.spi.VerbsProvider;
import io.rdma4j.verbs.spi.VerbsProviders;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An RDMA device of this host. C: {@code struct ibv_device}. Thread safe.
 *
 * <p>Providers supply the devices: one provider for hardware, one for software devices. {@link java.util.ServiceLoader}
 * finds them at the first call.
 */
public interface Device {
    /** Returns all devices. C: {@code ibv_get_device_list}. */
    static List<Device> list() {
        List<Device> devices = new ArrayList<>();
        for (VerbsProvider provider : VerbsProviders.all()) {
            devices.addAll(provider.devices());
        }
        return List.copyOf(devices);
    }

    /**
     * Returns the device that has a local address, if any.
     *
     * @throws RdmaException {@code ENODEV} if this process cannot use the device of this host that has the address,
     *     unless the property of {@link #chosen} names another device or provider
     */
    static Optional<Device> of(InetAddress address) {
        return VerbsProviders.deviceOf(VerbsProviders.all(), DeviceChoice.current(), address);
    }

    /** Returns the device with a name, if any. */
    static Optional<Device> named(String name) {
        return list().stream().filter(device -> device.name().equals(name)).findFirst();
    }

    /**
     * Returns all devices that the user allows. The system property {@code rdma4j.device}, or otherwise the environment
     * variable {@code RDMA4J_DEVICE}, names a provider ({@code soft}, {@code hardware}), a device
     * ({@code rdma4j_eth0}), or a device by one of its addresses ({@code 192.0.2.1}). An unset or empty value allows
     * all devices. C has no counterpart.
     */
    static List<Device> chosen() {
        return DeviceChoice.current().devices();
    }

    /** Returns the name, unique on this host. C: {@code ibv_get_device_name}. */
    String name();

    /**
     * Returns the GUID. A software device has the same GUID in all processes, and the same GUID as {@code rdma_rxe} on
     * the same network interface. C: {@code ibv_get_device_guid}.
     */
    long guid();

    /** Returns the type of the device. C: {@code ibv_device.node_type}. */
    default NodeType nodeType() {
        return NodeType.CHANNEL_ADAPTER;
    }

    /** Returns the protocol of the device. C: {@code ibv_device.transport_type}. */
    default TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    /**
     * Opens the device. C: {@code ibv_open_device}.
     *
     * @throws RdmaException if the device no longer exists
     */
    DeviceContext open();
}
