package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.Device;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The user's choice of devices. The system property {@code rdma4j.device}, or otherwise the environment variable
 * {@code RDMA4J_DEVICE}, names a provider ({@code soft}, {@code hardware}), a device ({@code rdma4j_eth0}), or a device
 * by one of its addresses ({@code 192.0.2.1}). An unset or empty value allows all devices. C has no counterpart.
 * Immutable.
 *
 * @param requested name or address of the requested devices, or null for all
 */
public record DeviceChoice(@Nullable String requested) {
    private static final String PROPERTY = "rdma4j.device";
    private static final String VARIABLE = "RDMA4J_DEVICE";

    /** Creates a choice. An empty string is the same as null. */
    public DeviceChoice {
        requested = requested == null || requested.isEmpty() ? null : requested;
    }

    /** Returns the current choice. */
    public static DeviceChoice current() {
        return new DeviceChoice(System.getProperty(PROPERTY, System.getenv(VARIABLE)));
    }

    /** Returns the allowed devices; an empty list if no provider or device has the name. */
    public List<Device> devices() {
        String name = requested;
        if (name == null) {
            return Device.list();
        }
        for (VerbsProvider provider : VerbsProviders.all()) {
            if (provider.name().equals(name)) {
                return List.copyOf(provider.devices());
            }
        }
        Optional<Device> device = Device.named(name);
        return (device.isPresent() ? device : address().flatMap(Device::of))
                .stream().toList();
    }

    /** Returns the requested address, if the choice is an IP address. Host names are not resolved. */
    public Optional<InetAddress> address() {
        try {
            return requested == null ? Optional.empty() : Optional.of(InetAddress.ofLiteral(requested));
        } catch (IllegalArgumentException notAnAddress) {
            return Optional.empty();
        }
    }

    /** Returns whether the choice allows a device. */
    public boolean allows(Device device) {
        return requested == null
                || devices().stream().anyMatch(each -> each.name().equals(device.name()));
    }
}
