package io.rdma4j.soft.host;

import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A host with one network interface, which has one address and never changes. Immutable. */
public final class SingleInterfaceNetwork implements HostNetwork {
    private final InetAddress address;
    private final InterfaceView only;

    /**
     * Creates a host.
     *
     * @param name the name of the interface
     * @param mtuBytes the largest IP packet, in bytes
     */
    public SingleInterfaceNetwork(String name, InetAddress address, int mtuBytes) {
        this.address = address;
        only = InterfaceView.ofVirtualHost(name, 1, List.of(address), true, mtuBytes);
    }

    @Override
    public List<InterfaceView> interfaces() {
        return List.of(only);
    }

    @Override
    public @Nullable InterfaceView named(String name) {
        return name.equals(only.name()) ? only : null;
    }

    @Override
    public @Nullable InterfaceView recentlyNamed(String name) {
        return named(name);
    }

    @Override
    public @Nullable InterfaceView recent(InetAddress wanted) {
        return wanted.equals(address) ? only : null;
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
    public List<InetAddress> oldestFirst(InterfaceView network) {
        return network.addresses();
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
