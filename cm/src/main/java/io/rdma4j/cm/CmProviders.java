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

/** The providers of this process, and which of them serves an address. */
final class CmProviders {
    /** Found once: providers have state, so there must be one of each. */
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

    /** Providers that have a device now, the preferred one first; only one if the user has named it. */
    static List<CmProvider> usable() {
        return allowed().filter(CmProvider::hasDevices).toList();
    }

    /** The same without asking for devices, which goes through all network interfaces. */
    private static Stream<CmProvider> allowed() {
        String wanted = wanted();
        boolean any = wanted == null || !isProvider(wanted);
        return Holder.ALL.stream().filter(provider -> any || provider.name().equals(wanted));
    }

    /** The name of a provider or of a device, or an address, that the user asked for; null if nothing. */
    private static @Nullable String wanted() {
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

    /** The provider of a local address, or null; if the user has named a device, only that one counts. */
    static @Nullable CmProvider of(InetAddress local) {
        String wanted = wanted();
        if (wanted != null && !isProvider(wanted)) {
            Optional<Device> device = Device.of(local);
            if (device.isEmpty() || !DeviceChoice.current().allows(device.get())) {
                return null;
            }
        }
        return allowed().filter(provider -> provider.serves(local)).findFirst().orElse(null);
    }

    /** Whether the user has named a device that is not there. */
    static boolean isChoiceMissing() {
        String wanted = wanted();
        return wanted != null && DeviceChoice.current().devices().isEmpty();
    }

    /** Whether the user allows every device. */
    static boolean areAllAllowed() {
        return wanted() == null;
    }

    /** What to try where an address has no device. */
    static String hint() {
        String wanted = wanted();
        return wanted == null
                ? "Use an address of this host whose network interface is up; `ip address` lists them"
                : "--device or RDMA4J_DEVICE asks for " + wanted
                        + ", a provider, a device or one of its addresses: use an address of that device, or unset it";
    }
}
