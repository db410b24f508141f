package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.GidAddresses;
import io.rdma4j.soft.engine.Port;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Gid;
import java.net.InetAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What an address vector means at a device. */
final class Paths {
    private Paths() {}

    /** Why a device cannot send that way, or null if it can. */
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
                    + GidAddresses.text(local);
        }
        if (remote.equals(Gid.ZERO)) {
            return "the destination GID is zero";
        }
        if (path.trafficClass() >>> 8 != 0 || path.hopLimit() >>> 8 != 0 || path.flowLabel() >>> 20 != 0) {
            return "traffic class, hop limit (8 bits each) or flow label (20 bits) out of range in " + path;
        }
        return null;
    }

    /** The local address of a path that is not refused. */
    static InetAddress localAddress(SoftDevice device, AddressVector path) {
        return Objects.requireNonNull(device.address(path.sourceGidIndex()));
    }

    /** Interface number of a link-local destination: the network of the port, if the path does not say; 0 for others. */
    static int remoteScope(AddressVector path, Port port) {
        return path.destinationScope() != 0 || !path.destination().isLinkLocal()
                ? path.destinationScope()
                : port.scope();
    }
}
