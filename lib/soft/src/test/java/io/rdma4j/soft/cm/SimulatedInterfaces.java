package io.rdma4j.soft.cm;

import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.soft.host.HostNetwork;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The network interfaces of a simulated host, which a test adds and removes. Changes are found by scans only. */
final class SimulatedInterfaces implements HostNetwork {
    private static final int HEADER_BYTES = 404;

    /** The addresses of one interface. */
    private record Ethernet(int index, List<InetAddress> addresses) {}

    private final InetAddress source;
    private final int mtuBytes;
    private final Map<String, Ethernet> interfaces = new LinkedHashMap<>();
    private int lastIndex;

    /** The addresses of the only interface by their age, if its list has another order; otherwise empty. */
    final List<InetAddress> oldestFirst = new ArrayList<>();

    /** The number of times that cached results were discarded. */
    int invalidations;

    /**
     * Creates a host with the interface {@code sim0}.
     *
     * @param source its address, from which it sends
     * @param payloadBytes largest payload of a packet
     */
    SimulatedInterfaces(InetAddress source, int payloadBytes) {
        this.source = source;
        mtuBytes = payloadBytes + HEADER_BYTES;
        add("sim0", source);
    }

    /** Adds an address to an interface, which is created if it does not exist. */
    void add(String name, InetAddress address) {
        interfaces
                .computeIfAbsent(name, _ -> new Ethernet(++lastIndex, new ArrayList<>()))
                .addresses
                .add(address);
    }

    /** Removes an address; its interface stays. */
    void removeAddress(InetAddress address) {
        interfaces.values().forEach(each -> each.addresses.remove(address));
    }

    /** Removes the interface that has an address. */
    void removeInterface(InetAddress address) {
        interfaces.values().removeIf(each -> each.addresses.contains(address));
    }

    private InterfaceView view(String name, Ethernet ethernet) {
        return InterfaceView.ofVirtualHost(name, ethernet.index, List.copyOf(ethernet.addresses), true, mtuBytes);
    }

    @Override
    public List<InterfaceView> interfaces() {
        return interfaces.entrySet().stream()
                .filter(each -> !each.getValue().addresses.isEmpty())
                .map(each -> view(each.getKey(), each.getValue()))
                .toList();
    }

    @Override
    public @Nullable InterfaceView named(String name) {
        Ethernet ethernet = interfaces.get(name);
        return ethernet == null || ethernet.addresses.isEmpty() ? null : view(name, ethernet);
    }

    @Override
    public @Nullable InterfaceView recentlyNamed(String name) {
        return named(name);
    }

    @Override
    public @Nullable InterfaceView recent(InetAddress wanted) {
        for (Map.Entry<String, Ethernet> each : interfaces.entrySet()) {
            if (each.getValue().addresses.contains(wanted)) {
                return view(each.getKey(), each.getValue());
            }
        }
        return null;
    }

    @Override
    public boolean hasAddress(InetAddress wanted) {
        return recent(wanted) != null;
    }

    @Override
    public boolean isAnyUp() {
        return !interfaces().isEmpty();
    }

    @Override
    public List<InetAddress> oldestFirst(InterfaceView network) {
        return oldestFirst.isEmpty() ? network.addresses() : List.copyOf(oldestFirst);
    }

    @Override
    public boolean canChange() {
        return false; // no separate thread checks for changes
    }

    @Override
    public boolean mayExistWithoutAddress(String name) {
        return interfaces.containsKey(name);
    }

    @Override
    public long carrierReturns(InterfaceView network) {
        return -1;
    }

    @Override
    public void invalidateCaches() {
        invalidations++;
    }

    @Override
    public @Nullable InterfaceMonitor openInterfaceMonitor() {
        return null;
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress from, InetAddress destination) {
        return from == null ? source : from;
    }
}
