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
import org.jspecify.annotations.Nullable;

/**
 * Devices that identifiers use: opened when first needed and kept open as long as they are there, as librdmacm does, each
 * with a default protection domain, and one of extended connections, while any identifier uses the device.
 */
final class OpenDevices {
    /** One identifier's use of a device. */
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

        /** Whether the application has the context, too, and may use it without an identifier. */
        boolean listed;

        /** Whether the device has gone, and another has its name. */
        boolean replaced;

        Entry(DeviceContext context) {
            this.context = context;
        }

        /** Closes the domains when no identifier uses the device, and the device, too, when it has been replaced. */
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
                // The application has something in it, like registered memory; the next identifier finds it again.
                return false;
            }
        }
    }

    private final Map<String, Entry> all = new HashMap<>();

    /** Returns the contexts of those devices that can be opened. */
    List<DeviceContext> all(List<Device> devices) {
        List<DeviceContext> contexts = new ArrayList<>();
        for (Device device : devices) {
            try {
                contexts.add(listed(device));
            } catch (RdmaException unusable) {
                // Left out, as in C.
            }
        }
        return List.copyOf(contexts);
    }

    /** A device for the application, which keeps it without being counted. */
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
                // None, or that of a device which has gone and whose name another has now.
                Entry made = new Entry(device.open());
                all.put(device.name(), made);
                if (entry != null) {
                    entry.replaced = true;
                    entry.closeUnused();
                }
                entry = made;
            }
            entry.users++;
            return new Use(entry);
        }
    }
}
