package io.rdma4j.cm;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import java.util.List;

/** The devices that the connection manager uses. */
public final class CmDevices {
    private CmDevices() {}

    /**
     * All devices, opened; they stay open, and are those that identifiers get from {@link CmId#verbs}. Devices that cannot be
     * opened are left out. A device that has gone and comes back is opened anew: list the devices again; the application may
     * close the old one. C: {@code rdma_get_devices}; {@code rdma_free_devices} has no counterpart.
     *
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public static List<DeviceContext> list() {
        return ConnectionManager.ofProcess().devices();
    }
}
