package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.RouteLookup;
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

/** The providers of a connection manager, and the choice between them for an address. Thread safe. */
final class CmProviders {
    private final List<CmProvider> all;

    /** Whether the user's {@link DeviceChoice} for this process holds. */
    private final boolean hasChoice;

    private CmProviders(List<CmProvider> all, boolean hasChoice) {
        this.all = all;
        this.hasChoice = hasChoice;
    }

    /** Returns the providers that {@link ServiceLoader} finds; the user's {@link DeviceChoice} selects among their devices. */
    static CmProviders ofProcess() {
        List<CmProvider> found = new ArrayList<>();
        for (CmProvider provider : ServiceLoader.load(CmProvider.class, CmProvider.class.getClassLoader())) {
            found.add(provider);
        }
        found.sort(Comparator.comparingInt(CmProvider::preference).reversed());
        return new CmProviders(List.copyOf(found), true);
    }

    /** Returns one provider, all of whose devices may be used. */
    static CmProviders of(CmProvider provider) {
        return new CmProviders(List.of(provider), false);
    }

    /** Returns all devices that may be used now. */
    List<Device> devices() {
        return hasChoice
                ? Device.list()
                : all.stream().flatMap(provider -> provider.devices().stream()).toList();
    }

    /**
     * Returns the local address from which the host of the first provider sends to a destination.
     *
     * @throws RdmaException {@code ENETUNREACH} if there is no route
     */
    InetAddress sourceFor(String operation, InetAddress destination) {
        return all.isEmpty()
                ? RouteLookup.sourceFor(operation, null, destination)
                : all.getFirst().sourceFor(operation, null, destination);
    }

    /** Providers that have a device now, the preferred one first; only one if the user has named it. */
    List<CmProvider> usable() {
        return allowed().filter(CmProvider::hasDevices).toList();
    }

    /** The same without asking for devices, which goes through all network interfaces. */
    private Stream<CmProvider> allowed() {
        String wanted = wanted();
        boolean any = wanted == null || !isProvider(wanted);
        return all.stream().filter(provider -> any || provider.name().equals(wanted));
    }

    /** The name of a provider or of a device, or an address, that the user asked for; null if nothing. */
    private @Nullable String wanted() {
        return hasChoice ? DeviceChoice.current().wanted() : null;
    }

    private boolean isProvider(String name) {
        return all.stream().anyMatch(provider -> provider.name().equals(name));
    }

    void requireDevices(String operation) {
        if (usable().isEmpty()) {
            throw new RdmaException(
                    operation,
                    Errno.ENODEV,
                    all.isEmpty()
                            ? "no provider of RDMA devices is on the module path or class path"
                            : "no provider of RDMA devices has one",
                    all.isEmpty()
                            ? "Add the module io.rdma4j.soft"
                            : "The software device needs a network interface that is up, at least the loopback one");
        }
    }

    /** The provider of a local address, or null; if the user has named a device, only that one counts. */
    @Nullable
    CmProvider of(InetAddress local) {
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
    boolean isChoiceMissing() {
        String wanted = wanted();
        return wanted != null && DeviceChoice.current().devices().isEmpty();
    }

    /** Whether the user allows every device. */
    boolean areAllAllowed() {
        return wanted() == null;
    }

    /** What to try where an address has no device. */
    String hint() {
        String wanted = wanted();
        return wanted == null
                ? "Use an address of this host whose network interface is up; `ip address` lists them"
                : "--device or RDMA4J_DEVICE asks for " + wanted
                        + ", a provider, a device or one of its addresses: use an address of that device, or unset it";
    }
}
