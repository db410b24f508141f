package io.rdma4j.soft.device;

import io.rdma4j.link.InterfaceView;
import io.rdma4j.soft.engine.GidAddresses;
import io.rdma4j.soft.engine.Port;
import io.rdma4j.transport.QueuePairCounters;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The software device of one network interface. Its GIDs are the interface's addresses. Thread safe. */
public final class SoftDevice implements Device {
    /** Longest message of a reliable connection, by the InfiniBand specification. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;

    private static final int GID_TABLE_LENGTH = 1024;

    /** Most that headers take of an IP packet: IPv6, UDP, BTH, the longest extension headers, ICRC. */
    private static final int HEADER_BYTES = 96;

    private final SoftDevices devices;
    private final String networkName;
    private final int index;

    /** Addresses by GID index; null where one was that has gone. An index never gets another address. */
    private final List<@Nullable InetAddress> addresses = new ArrayList<>();

    /** Both halves of each GID that is in the table, for those who ask with each packet. */
    private volatile long[] gidHalves = {};

    /** Of the queue pairs that are open, and the sums of those that are closed. */
    private final Set<QueuePairCounters> counted = new HashSet<>();

    private final Map<String, Long> closed = new LinkedHashMap<>();

    SoftDevice(SoftDevices devices, String networkName, int index) {
        this.devices = devices;
        this.networkName = networkName;
        this.index = index;
    }

    @Override
    public String name() {
        return "rdma4j_" + networkName;
    }

    @Override
    public long guid() {
        // The process' part must stay: peers tell the processes of a host apart by it.
        return devices.guid() + index;
    }

    /** Returns the devices that this one is one of. */
    SoftDevices devices() {
        return devices;
    }

    /** Name of the network interface. */
    public String networkName() {
        return networkName;
    }

    /** Index of the network interface. */
    int networkIndex() {
        return index;
    }

    @Override
    public DeviceContext open() {
        if (network() == null) {
            throw new RdmaException(
                    "ibv_open_device",
                    Errno.ENODEV,
                    name() + ": there is no network interface " + networkName + " any more",
                    "List the devices again");
        }
        SoftContext context = new SoftContext(this, devices.engines());
        devices.watch().add(context);
        devices.onOpened(context);
        return context;
    }

    private @Nullable InterfaceView network() {
        try {
            InterfaceView network = devices.host().named(networkName);
            return network != null && network.index() == index ? network : null;
        } catch (SocketException e) {
            return null;
        }
    }

    // ---- counters ----

    /** Counts for a queue pair from now on. */
    synchronized void count(QueuePairCounters counters) {
        counted.add(counters);
    }

    /** Takes the sum of a queue pair that is closed. */
    synchronized void forgetCounters(QueuePairCounters counters) {
        if (counted.remove(counters)) {
            Counters.add(closed, Counters.of(counters));
        }
    }

    /** Sums over all queue pairs that are and were. */
    synchronized Map<String, Long> counters() {
        Map<String, Long> sums = Counters.of(new QueuePairCounters());
        Counters.add(sums, closed);
        for (QueuePairCounters each : counted) {
            Counters.add(sums, Counters.of(each));
        }
        return sums;
    }

    // ---- the GID table ----

    /** GIDs in table order, looked up anew. */
    synchronized List<Gid> gids() {
        refresh();
        List<Gid> gids = new ArrayList<>();
        for (InetAddress address : addresses) {
            gids.add(address == null ? Gid.ZERO : Gid.of(address));
        }
        return gids;
    }

    /** Local addresses now, in table order. */
    public synchronized List<InetAddress> addresses() {
        refresh();
        List<InetAddress> present = new ArrayList<>();
        for (InetAddress address : addresses) {
            if (address != null) {
                present.add(address);
            }
        }
        return present;
    }

    /**
     * Index of a local address of this device in its GID table; an address of 127/8, all of which belong to the loopback
     * device, gets one when it is first asked for.
     */
    public synchronized int gidIndex(InetAddress address) {
        int known = find(address);
        if (known < 0) {
            refresh();
            known = find(address);
        }
        return known >= 0 ? known : add(address);
    }

    /** Makes sure that an address of this device has a GID. */
    void require(InetAddress address) {
        var _ = gidIndex(address);
    }

    /** The address at a place of the GID table, or null. */
    synchronized @Nullable InetAddress address(int gidIndex) {
        if (gidIndex >= addresses.size()) {
            refresh();
        }
        return gidIndex >= 0 && gidIndex < addresses.size() ? addresses.get(gidIndex) : null;
    }

    /** Whether a port is at an address of this device, as far as the GID table knows. Takes no lock and allocates nothing. */
    boolean has(Port port) {
        if (port.scope() != 0 && port.scope() != index) {
            return false;
        }
        long[] halves = gidHalves;
        for (int i = 0; i < halves.length; i += 2) {
            if (halves[i + 1] == port.low() && halves[i] == port.high()) {
                return true;
            }
        }
        return false;
    }

    private void publishGids() {
        LongStream.Builder halves = LongStream.builder();
        for (InetAddress address : addresses) {
            if (address != null) {
                halves.add(GidAddresses.high(address)).add(GidAddresses.low(address));
            }
        }
        gidHalves = halves.build().toArray();
    }

    private int find(InetAddress address) {
        for (int i = 0; i < addresses.size(); i++) {
            InetAddress each = addresses.get(i);
            if (each != null && isSame(each, address)) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isSame(InetAddress a, InetAddress b) {
        return Gid.of(a).equals(Gid.of(b));
    }

    private int add(InetAddress address) {
        addresses.add(address);
        publishGids();
        return addresses.size() - 1;
    }

    private void refresh() {
        InterfaceView network = network();
        List<InetAddress> present = network == null ? List.of() : network.addresses();
        for (int i = 0; i < addresses.size(); i++) {
            InetAddress address = addresses.get(i);
            boolean isImplied = address != null && address.isLoopbackAddress() && network != null;
            if (address != null && !isImplied && present.stream().noneMatch(each -> isSame(each, address))) {
                addresses.set(i, null);
                publishGids();
            }
        }
        for (InetAddress address : present) {
            if (find(address) < 0) {
                add(address);
            }
        }
    }

    // ---- the port ----

    /** What a packet may carry, as it was a moment ago; for whoever asks often. */
    public PathMtu activeMtu() {
        try {
            InterfaceView network = devices.host().recentlyNamed(networkName);
            return activeMtu(network == null || network.index() != index ? 0 : network.mtuBytes());
        } catch (SocketException e) {
            return activeMtu(0); // gone since
        }
    }

    private static PathMtu activeMtu(int packetBytes) {
        return PathMtu.atMost(Math.max(0, packetBytes - HEADER_BYTES));
    }

    PortAttributes port() {
        InterfaceView network = network();
        boolean up = false;
        int mtuBytes = 0;
        try {
            if (network != null) {
                up = network.isUp();
                mtuBytes = network.mtuBytes();
            }
        } catch (SocketException e) {
            // Gone since: reported as down.
            up = false;
        }
        return new PortAttributes(
                up, PathMtu.MTU_4096, activeMtu(mtuBytes), GID_TABLE_LENGTH, MAX_MESSAGE_BYTES, networkName);
    }

    @Override
    public String toString() {
        List<String> texts = new ArrayList<>();
        for (InetAddress address : addresses()) {
            texts.add(GidAddresses.text(address));
        }
        return name() + " " + texts;
    }
}
