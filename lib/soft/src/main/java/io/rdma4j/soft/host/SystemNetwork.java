package io.rdma4j.soft.host;

import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The network interfaces and routes of the system. Stateless. */
final class SystemNetwork implements HostNetwork {
    /** Lists all interfaces of the network namespace; Java lists only those that have an address. */
    private static final Path ALL_INTERFACES = Path.of("/proc/net/dev");

    private static final Path INTERFACES = Path.of("/sys/class/net");

    @Override
    public List<InterfaceView> interfaces() throws SocketException {
        return Interfaces.views();
    }

    @Override
    public @Nullable InterfaceView named(String name) throws SocketException {
        return Interfaces.view(name);
    }

    @Override
    public @Nullable InterfaceView recentlyNamed(String name) throws SocketException {
        return Interfaces.recent(name);
    }

    @Override
    public @Nullable InterfaceView recent(InetAddress address) throws SocketException {
        return Interfaces.recent(address);
    }

    @Override
    public boolean hasAddress(InetAddress address) throws SocketException {
        return Interfaces.find(address) != null;
    }

    @Override
    public boolean isAnyUp() throws SocketException {
        return Interfaces.isAnyUp();
    }

    @Override
    public List<InetAddress> oldestFirst(InterfaceView network) {
        List<InetAddress> oldestFirst = LinkSets.addressesOldestFirst(network.index());
        List<InetAddress> addresses = new ArrayList<>(network.addresses());
        addresses.sort(Comparator.comparingInt(each -> {
            int place = oldestFirst.indexOf(each);
            return place >= 0 ? place : oldestFirst.size(); // it is newer than the other list
        }));
        return addresses;
    }

    @Override
    public boolean canChange() {
        return true;
    }

    @Override
    public boolean mayExistWithoutAddress(String name) {
        try {
            return Files.readAllLines(ALL_INTERFACES).stream()
                    .anyMatch(line -> line.strip().startsWith(name + ":"));
        } catch (NoSuchFileException notLinux) {
            return false;
        } catch (IOException e) {
            // The cause may be a lack of descriptors, which is no reason to give up a device and its queue pairs.
            return true;
        }
    }

    /** Also returns -1 if /sys belongs to another network namespace. */
    @Override
    public long carrierReturns(InterfaceView network) {
        Path folder = INTERFACES.resolve(network.name());
        try {
            return number(folder.resolve("ifindex")) == network.index()
                    ? number(folder.resolve("carrier_up_count"))
                    : -1;
        } catch (IOException | NumberFormatException notLinux) {
            return -1;
        }
    }

    private static long number(Path file) throws IOException {
        return Long.parseLong(SystemFile.read(file));
    }

    @Override
    public void invalidateCaches() {
        Interfaces.invalidateCache();
        RouteLookup.forget();
    }

    @Override
    public @Nullable InterfaceMonitor openInterfaceMonitor() {
        return LinkSets.openInterfaceMonitor();
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return RouteLookup.sourceFor(operation, source, destination);
    }
}
