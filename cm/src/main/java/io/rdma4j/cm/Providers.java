package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The providers of this process, and which of them serves an address. */
final class Providers {
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

    private Providers() {}

    /** Providers that have a device now, the preferred one first; only one if the user has named it. */
    static List<CmProvider> usable() {
        String wanted = wantedName();
        List<CmProvider> usable = new ArrayList<>();
        for (CmProvider provider : Holder.ALL) {
            if ((wanted == null || provider.name().equals(wanted)) && provider.hasDevices()) {
                usable.add(provider);
            }
        }
        return usable;
    }

    /** {@code rdma4j.device}, else {@code RDMA4J_DEVICE}, if it is the name of a provider and not of a device. */
    private static @Nullable String wantedName() {
        String wanted = System.getProperty("rdma4j.device", System.getenv("RDMA4J_DEVICE"));
        if (wanted == null) {
            return null;
        }
        for (CmProvider provider : Holder.ALL) {
            if (provider.name().equals(wanted)) {
                return wanted;
            }
        }
        return null;
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

    /** The provider of a local address, or null. */
    static @Nullable CmProvider of(InetAddress local) {
        for (CmProvider provider : usable()) {
            if (provider.serves(local)) {
                return provider;
            }
        }
        return null;
    }
}
