package io.rdma4j.soft.device;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.sharing.Port;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.AddressVector;
import java.net.InetAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Interprets address vectors for a device. */
final class Paths {
    private Paths() {}

    /** Returns the reason why a device cannot send to an address vector, or null if it can. */
    static @Nullable String refusal(SoftDevice device, @Nullable AddressVector path) {
        if (path == null) {
            return "no address vector";
        }
        if (path.port() != 1) {
            return "the address vector's port " + path.port() + " is not 1";
        }
        InetAddress local = device.address(path.sourceGidIndex());
        if (local == null) {
            return "there is no GID with index " + path.sourceGidIndex() + " at " + device.name();
        }
        Gid remote = path.destination();
        if (Gid.of(local).isIpv4() != remote.isIpv4()) {
            return "the destination " + remote + " is of another address family than the source GID "
                    + AddressText.of(local);
        }
        if (remote.equals(Gid.ZERO)) {
            return "the destination GID is zero";
        }
        if (path.trafficClass() >>> 8 != 0 || path.hopLimit() >>> 8 != 0 || path.flowLabel() >>> 20 != 0) {
            return "traffic class, hop limit (8 bits each) or flow label (20 bits) out of range in " + path;
        }
        return null;
    }

    /** Returns the local address of a valid path. */
    static InetAddress localAddress(SoftDevice device, AddressVector path) {
        return Objects.requireNonNull(device.address(path.sourceGidIndex()));
    }

    /**
     * Returns the interface number of a link-local destination: the port's interface if the path does not specify it. Returns 0
     * for other destinations.
     */
    static int remoteScope(AddressVector path, Port port) {
        return path.destinationScope() != 0 || !path.destination().isLinkLocal()
                ? path.destinationScope()
                : port.scope();
    }
}
