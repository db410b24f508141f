package io.rdma4j.cm;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import java.util.List;

/** Lists the devices that the connection manager uses. */
public final class CmDevices {
    private CmDevices() {}

    /**
     * Opens and returns all devices. They stay open, and are the contexts that identifiers return from {@link
     * CmId#verbs}. Devices that cannot be opened are omitted. A device that was removed and added again gets a new
     * context: call this method again; the application may close the old context. C: {@code rdma_get_devices}; {@code
     * rdma_free_devices} has no counterpart. Thread safe.
     *
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public static List<DeviceContext> list() {
        return ConnectionManager.ofProcess().devices();
    }
}
