package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * The providers of devices of this process. They are loaded once, because they have state. A later load, which reads
 * files, might also fail for lack of file descriptors.
 */
public final class VerbsProviders {
    private static final class Holder {
        static final List<VerbsProvider> ALL = load();

        private static List<VerbsProvider> load() {
            List<VerbsProvider> found = new ArrayList<>();
            ServiceLoader.load(VerbsProvider.class, Device.class.getClassLoader())
                    .forEach(found::add);
            found.sort(Comparator.comparingInt(VerbsProvider::preference).reversed());
            return List.copyOf(found);
        }
    }

    private VerbsProviders() {}

    /** Returns the providers in descending order of preference. Any thread. */
    public static List<VerbsProvider> all() {
        return Holder.ALL;
    }

    /**
     * Returns the device of the first provider that has one with a local address.
     *
     * @throws RdmaException if a provider that the user has not excluded refuses the address
     */
    public static Optional<Device> deviceOf(List<VerbsProvider> providers, DeviceChoice choice, InetAddress address) {
        String requested = choice.requested();
        for (VerbsProvider provider : providers) {
            Optional<Device> device = provider.deviceOf(address);
            if (device.isPresent()) {
                return device;
            }
            boolean isExcluded = requested != null && !requested.equals(provider.name());
            String refusal = isExcluded ? "" : provider.refusal(address);
            if (!refusal.isEmpty()) {
                throw new RdmaException(
                        "ibv_get_device_list",
                        Errno.ENODEV,
                        "the local address " + address.getHostAddress() + " belongs to " + refusal,
                        VerbsProvider.REFUSAL_HINT);
            }
        }
        return Optional.empty();
    }
}
