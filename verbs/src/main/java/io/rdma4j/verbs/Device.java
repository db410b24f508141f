package io.rdma4j.verbs;

import io.rdma4j.verbs.spi.VerbsProvider;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An RDMA device of this host. C: {@code struct ibv_device}. Thread safe.
 *
 * <p>Devices come from providers, which are found by {@link java.util.ServiceLoader} at the first call; the software
 * device is one.
 */
public interface Device {
    /** All devices. C: {@code ibv_get_device_list}. */
    static List<Device> list() {
        List<Device> devices = new ArrayList<>();
        for (VerbsProvider provider : VerbsProviders.all()) {
            devices.addAll(provider.devices());
        }
        return List.copyOf(devices);
    }

    /** The device that has a local address, or nothing. */
    static Optional<Device> of(InetAddress address) {
        for (VerbsProvider provider : VerbsProviders.all()) {
            Optional<Device> device = provider.deviceOf(address);
            if (device.isPresent()) {
                return device;
            }
        }
        return Optional.empty();
    }

    /** The device of a name, or nothing. */
    static Optional<Device> named(String name) {
        return list().stream().filter(device -> device.name().equals(name)).findFirst();
    }

    /** All devices that the user allows; see {@link DeviceChoice}. */
    static List<Device> chosen() {
        return DeviceChoice.current().devices();
    }

    /** Name, unique on this host. C: {@code ibv_get_device_name}. */
    String name();

    /** Identifier of the device; the software device's is new in each process. C: {@code ibv_get_device_guid}. */
    long guid();

    /** What the device is. C: {@code ibv_device.node_type}. */
    default NodeType nodeType() {
        return NodeType.CHANNEL_ADAPTER;
    }

    /** The protocol that the device speaks. C: {@code ibv_device.transport_type}. */
    default TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    /**
     * Opens the device. C: {@code ibv_open_device}.
     *
     * @throws RdmaException if the device has gone
     */
    DeviceContext open();
}
