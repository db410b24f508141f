package io.rdma4j.verbs;

import io.rdma4j.verbs.spi.VerbsProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/**
 * The providers of devices of this process. They are loaded once, because they have state, and because loading reads
 * files and may later fail for lack of file descriptors.
 */
final class VerbsProviders {
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

    static List<VerbsProvider> all() {
        return Holder.ALL;
    }
}
