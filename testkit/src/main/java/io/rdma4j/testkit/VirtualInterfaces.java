package io.rdma4j.testkit;

import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The only network interface of a {@link TestHost}, which never changes. Immutable. */
final class VirtualInterfaces implements HostNetwork {
    private static final String NAME = "eth0";

    private final InetAddress address;
    private final InterfaceView ethernet;

    VirtualInterfaces(InetAddress address, int mtuBytes) {
        this.address = address;
        ethernet = InterfaceView.ofVirtualHost(NAME, 1, List.of(address), true, mtuBytes);
    }

    @Override
    public List<InterfaceView> interfaces() {
        return List.of(ethernet);
    }

    @Override
    public @Nullable InterfaceView named(String name) {
        return name.equals(NAME) ? ethernet : null;
    }

    @Override
    public @Nullable InterfaceView recentlyNamed(String name) {
        return named(name);
    }

    @Override
    public @Nullable InterfaceView recent(InetAddress wanted) {
        return wanted.equals(address) ? ethernet : null;
    }

    @Override
    public boolean hasAddress(InetAddress wanted) {
        return recent(wanted) != null;
    }

    @Override
    public boolean isAnyUp() {
        return true;
    }

    @Override
    public boolean canChange() {
        return false;
    }

    @Override
    public boolean mayExistWithoutAddress(String name) {
        return false;
    }

    @Override
    public long carrierReturns(InterfaceView network) {
        return -1;
    }

    @Override
    public void invalidateCaches() {}

    @Override
    public @Nullable InterfaceMonitor openInterfaceMonitor() {
        return null;
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        if (destination instanceof Inet4Address != address instanceof Inet4Address) {
            throw new RdmaException(
                    operation,
                    Errno.ENETUNREACH,
                    "the host " + address.getHostAddress() + " has no route to " + destination.getHostAddress(),
                    "Use addresses of one family");
        }
        return source == null ? address : source;
    }
}
