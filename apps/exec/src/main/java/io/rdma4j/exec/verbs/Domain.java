package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.abi.Native;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A protection domain and its registered memory. C: {@code struct ibv_pd}. Thread safe. */
final class Domain implements AutoCloseable {
    /** The limit of the length of a scatter-gather element, a 32-bit number. */
    private static final long MAX_ELEMENT_BYTES = 1L << 32;

    private final OpenDevice device;
    private final ProtectionDomain domain;
    private final LocalKeys keys = new LocalKeys();
    private volatile @Nullable MemoryRegion closedRegion;

    Domain(OpenDevice device) {
        this.device = device;
        domain = device.context().createProtectionDomain();
    }

    OpenDevice device() {
        return device;
    }

    ProtectionDomain domain() {
        return domain;
    }

    LocalKeys keys() {
        return keys;
    }

    /**
     * Returns a closed region, which replaces memory that is not registered. As on hardware, a request with such memory
     * is accepted, and completes with {@link io.rdma4j.value.CompletionStatus#LOCAL_PROTECTION_ERROR}.
     */
    MemoryRegion closedRegion() {
        MemoryRegion region = closedRegion;
        return region == null ? createClosedRegion() : region;
    }

    private synchronized MemoryRegion createClosedRegion() {
        MemoryRegion region = closedRegion;
        if (region == null) {
            // This memory is never accessed: the region is closed before a request can use it.
            region = domain.register(Native.segment(0, MAX_ELEMENT_BYTES), Set.of());
            region.close();
            closedRegion = region;
        }
        return region;
    }

    @Override
    public void close() {
        domain.close();
    }
}
