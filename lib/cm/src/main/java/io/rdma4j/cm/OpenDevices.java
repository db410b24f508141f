package io.rdma4j.cm;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.XrcDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The devices that identifiers use. Like in librdmacm, a device is opened on first use and stays open as long as it
 * exists. It has a default protection domain and a default XRC domain while any identifier uses it.
 */
final class OpenDevices {
    /** A reference of one identifier to a device. */
    final class Use {
        private final Entry entry;
        private boolean released;

        Use(Entry entry) {
            this.entry = entry;
        }

        DeviceContext context() {
            return entry.context;
        }

        ProtectionDomain defaultDomain() {
            synchronized (all) {
                ProtectionDomain domain = entry.domain;
                if (domain == null) {
                    domain = entry.context.createProtectionDomain();
                    entry.domain = domain;
                }
                return domain;
            }
        }

        XrcDomain defaultXrcDomain() {
            synchronized (all) {
                XrcDomain domain = entry.xrcDomain;
                if (domain == null) {
                    domain = entry.context.openXrcDomain();
                    entry.xrcDomain = domain;
                }
                return domain;
            }
        }

        void release() {
            synchronized (all) {
                if (!released) {
                    released = true;
                    entry.users--;
                    entry.closeUnused();
                }
            }
        }
    }

    static final class Entry {
        final DeviceContext context;

        @Nullable
        ProtectionDomain domain;

        @Nullable
        XrcDomain xrcDomain;

        int users;

        /** True if the application also has the context, and may use it without an identifier. */
        boolean listed;

        /** True if the device was removed, and another device has its name. */
        boolean replaced;

        Entry(DeviceContext context) {
            this.context = context;
        }

        /** Closes the domains if no identifier uses the device; if it was replaced, also closes the device. */
        void closeUnused() {
            if (users > 0) {
                return;
            }
            if (xrcDomain != null && isClosed(xrcDomain::close)) {
                xrcDomain = null;
            }
            if (domain != null && isClosed(domain::close)) {
                domain = null;
            }
            if (replaced && !listed && xrcDomain == null && domain == null) {
                context.close();
            }
        }

        private static boolean isClosed(Runnable close) {
            try {
                close.run();
                return true;
            } catch (RdmaException stillUsed) {
                // The application still uses the domain, for example for registered memory. The next identifier reuses
                // it.
                return false;
            }
        }
    }

    private final Map<String, Entry> all = new HashMap<>();

    /** Opens devices, and omits devices that cannot be opened. */
    List<DeviceContext> all(List<Device> devices) {
        List<DeviceContext> contexts = new ArrayList<>();
        for (Device device : devices) {
            try {
                contexts.add(listed(device));
            } catch (RdmaException unusable) {
                // Omitted, like in C.
            }
        }
        return List.copyOf(contexts);
    }

    /** Opens a device for the application. The application is not counted as a user, but may keep the context. */
    DeviceContext listed(Device device) {
        synchronized (all) {
            Use use = use(device);
            use.entry.listed = true;
            use.release();
            return use.context();
        }
    }

    Use use(Device device) {
        synchronized (all) {
            Entry entry = all.get(device.name());
            if (entry == null || !entry.context.device().equals(device)) {
                // The device is not open, or the open device was removed and another device has its name.
                Entry created = new Entry(device.open());
                all.put(device.name(), created);
                if (entry != null) {
                    entry.replaced = true;
                    entry.closeUnused();
                }
                entry = created;
            }
            entry.users++;
            return new Use(entry);
        }
    }

    /** Returns the contexts of the open devices, and their default domains. */
    Set<AutoCloseable> objects() {
        synchronized (all) {
            return all.values().stream()
                    .flatMap(entry -> Stream.of(entry.context, entry.domain, entry.xrcDomain))
                    .filter(Objects::nonNull)
                    .collect(Collectors.toUnmodifiableSet());
        }
    }

    /** Closes all devices, and the objects that identifiers have left open in them. */
    void close() {
        synchronized (all) {
            all.values().forEach(entry -> entry.context.close());
            all.clear();
        }
    }
}
