package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceChoice;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The providers of this process, and the selection of a provider for an address. */
final class CmProviders {
    /** Loaded once: providers have state, so each has exactly one instance. */
    private static final class Holder {
        static final List<CmProvider> ALL = load();

        private static List<CmProvider> load() {
            List<CmProvider> found = new ArrayList<>();
            for (CmProvider provider : ServiceLoader.load(CmProvider.class, CmProvider.class.getClassLoader())) {
                found.add(provider);
            }
            found.sort(Comparator.comparingInt(CmProvider::preference).reversed());
            return List.copyOf(found);
        }
    }

    private CmProviders() {}

    /**
     * Returns the providers that currently have a device, in order of preference, or only the one that the user has
     * named.
     */
    static List<CmProvider> usable() {
        return allowed().filter(CmProvider::hasDevices).toList();
    }

    /** Returns the allowed providers without checking for devices, which would enumerate all network interfaces. */
    private static Stream<CmProvider> allowed() {
        String requested = requested();
        boolean any = requested == null || !isProvider(requested);
        return Holder.ALL.stream().filter(provider -> any || provider.name().equals(requested));
    }

    /** Returns the provider name, device name or address that the user requested, or null. */
    private static @Nullable String requested() {
        return DeviceChoice.current().wanted();
    }

    private static boolean isProvider(String name) {
        return Holder.ALL.stream().anyMatch(provider -> provider.name().equals(name));
    }

    static void requireDevices(String operation) {
        if (usable().isEmpty()) {
            throw new RdmaException(
                    operation,
                    Errno.ENODEV,
                    Holder.ALL.isEmpty()
                            ? "no provider of RDMA devices is on the module path or class path"
                            : "no provider of RDMA devices has one",
                    Holder.ALL.isEmpty()
                            ? "Add the module io.rdma4j.soft"
                            : "The software device needs a network interface that is up, at least the loopback one");
        }
    }

    /**
     * Returns the provider that serves a local address, or null. If the user has named a device, only that device is
     * considered.
     */
    static @Nullable CmProvider of(InetAddress local) {
        String requested = requested();
        if (requested != null && !isProvider(requested)) {
            Optional<Device> device = Device.of(local);
            if (device.isEmpty() || !DeviceChoice.current().allows(device.get())) {
                return null;
            }
        }
        return allowed().filter(provider -> provider.serves(local)).findFirst().orElse(null);
    }

    /** Returns whether the user has named a device that does not exist. */
    static boolean isChoiceMissing() {
        String requested = requested();
        return requested != null && DeviceChoice.current().devices().isEmpty();
    }

    /** Returns whether the user allows every device. */
    static boolean areAllAllowed() {
        return requested() == null;
    }

    /** Returns the hint for an address without a device. */
    static String hint() {
        String requested = requested();
        return requested == null
                ? "Use an address of this host whose network interface is up; `ip address` lists them"
                : "--device or RDMA4J_DEVICE asks for " + requested
                        + ", a provider, a device or one of its addresses: use an address of that device, or unset it";
    }
}
