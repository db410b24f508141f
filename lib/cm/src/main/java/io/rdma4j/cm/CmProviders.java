package io.rdma4j.cm;

import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.DeviceChoice;
import io.rdma4j.verbs.wait.WaitDriver;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The providers of a connection manager, and the choice between them for an address. Thread safe. */
final class CmProviders {
    private final List<CmProvider> all;

    /** True if the user's {@link DeviceChoice} for this process applies. */
    private final boolean hasChoice;

    private CmProviders(List<CmProvider> all, boolean hasChoice) {
        this.all = all;
        this.hasChoice = hasChoice;
    }

    /**
     * Returns the providers that {@link ServiceLoader} finds. The user's {@link DeviceChoice} restricts their devices.
     */
    static CmProviders ofProcess() {
        List<CmProvider> found = new ArrayList<>();
        for (CmProvider provider : ServiceLoader.load(CmProvider.class, CmProvider.class.getClassLoader())) {
            found.add(provider);
        }
        found.sort(Comparator.comparingInt(CmProvider::preference).reversed());
        return new CmProviders(List.copyOf(found), true);
    }

    /** Returns one provider. All its devices may be used. */
    static CmProviders of(CmProvider provider) {
        return new CmProviders(List.of(provider), false);
    }

    /** Returns the provider that was passed to {@link #of(CmProvider)}. */
    CmProvider only() {
        if (hasChoice) {
            throw new IllegalArgumentException("several providers");
        }
        return all.getFirst();
    }

    /** Returns the wait driver of the first provider that has started, or null. */
    @Nullable
    WaitDriver waitDriver() {
        return all.stream()
                .map(CmProvider::waitDriver)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns all devices that may currently be used. */
    List<Device> devices() {
        return hasChoice
                ? Device.list()
                : all.stream().flatMap(provider -> provider.devices().stream()).toList();
    }

    /**
     * Returns the local address from which the host of the first provider sends to a destination.
     *
     * @throws RdmaException {@code ENETUNREACH} if the host has no route
     */
    InetAddress sourceFor(String operation, InetAddress destination) {
        return all.isEmpty()
                ? RouteLookup.sourceFor(operation, null, destination)
                : all.getFirst().sourceFor(operation, null, destination);
    }

    /**
     * Returns the providers that currently have a device, in order of preference. If the user has named a provider,
     * returns only that one.
     */
    List<CmProvider> usable() {
        return allowed().filter(CmProvider::hasDevices).toList();
    }

    /** Returns the usable providers for a wildcard address: the ones that have a device that the user allows. */
    List<CmProvider> ofWildcard() {
        String requested = requested();
        if (requested == null || isProvider(requested)) {
            return usable();
        }
        DeviceChoice choice = DeviceChoice.current();
        return usable().stream()
                .filter(provider -> provider.devices().stream().anyMatch(choice::allows))
                .toList();
    }

    /** Returns the allowed providers without checking for devices, which would enumerate all network interfaces. */
    private Stream<CmProvider> allowed() {
        String requested = requested();
        boolean any = requested == null || !isProvider(requested);
        return all.stream().filter(provider -> any || provider.name().equals(requested));
    }

    /** Returns the provider name, device name or address that the user requested, or null. */
    private @Nullable String requested() {
        return hasChoice ? DeviceChoice.current().requested() : null;
    }

    private boolean isProvider(String name) {
        return all.stream().anyMatch(provider -> provider.name().equals(name));
    }

    void requireDevices(String operation) {
        if (!usable().isEmpty()) {
            return;
        }
        String requested = requested();
        if (all.isEmpty()) {
            throw new RdmaException(
                    operation,
                    Errno.ENODEV,
                    "no provider of RDMA devices is on the module path or class path",
                    "Add the module io.rdma4j.soft");
        }
        if (requested != null && isProvider(requested)) {
            throw new RdmaException(
                    operation,
                    Errno.ENODEV,
                    "the provider " + requested + ", which --device or RDMA4J_DEVICE requests, has no RDMA device",
                    "./rdma4j doctor lists the devices of this host, and explains why a device cannot be used");
        }
        throw new RdmaException(
                operation,
                Errno.ENODEV,
                "no provider has an RDMA device",
                "The software device needs a network interface that is up, at least the loopback interface");
    }

    /**
     * Returns the provider that serves a local address, or null. If the user has named a device, only that device is
     * considered.
     */
    @Nullable
    CmProvider of(InetAddress local) {
        String requested = requested();
        if (requested != null && !isProvider(requested)) {
            Optional<Device> device = Device.of(local);
            if (device.isEmpty() || !DeviceChoice.current().allows(device.get())) {
                return null;
            }
        }
        if (!refusal(local).isEmpty()) {
            return null;
        }
        return allowed().filter(provider -> provider.serves(local)).findFirst().orElse(null);
    }

    /**
     * Returns a clause that names the unusable device of this host with an address, and explains why. Empty if no such
     * device exists, or if the user has named another device.
     */
    String refusal(InetAddress local) {
        String requested = requested();
        return requested != null && !isProvider(requested)
                ? ""
                : allowed()
                        .map(provider -> provider.refusal(local))
                        .filter(reason -> !reason.isEmpty())
                        .findFirst()
                        .orElse("");
    }

    /** Returns whether the user has named a device that does not exist. */
    boolean isChoiceMissing() {
        String requested = requested();
        return requested != null && DeviceChoice.current().devices().isEmpty();
    }

    /** Returns whether the user allows every device. */
    boolean areAllAllowed() {
        return requested() == null;
    }

    /** Returns the hint for an address without a device. */
    String hint() {
        String requested = requested();
        return requested == null
                ? "Use an address of this host whose network interface is up; `ip address` lists them"
                : "--device or RDMA4J_DEVICE requests " + requested
                        + ", a provider, a device or one of its addresses: use an address of that device, or unset it";
    }
}
