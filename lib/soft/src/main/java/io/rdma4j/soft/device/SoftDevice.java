package io.rdma4j.soft.device;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.transport.QueuePairCounters;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PhysicalPortState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The software device of one network interface. The addresses of the interface are its GIDs. Thread safe.
 *
 * <p>The GID table has the same order as Linux's table for {@code rdma_rxe}: the link-local address at index 0, which is empty if
 * there is none, then the IPv4 addresses, then the other IPv6 addresses, each in the order in which the interface got them. Most
 * interfaces therefore have their IPv4 address at index 1. Addresses that the interface gets later are appended, so that no index
 * changes.
 */
public final class SoftDevice implements Device {
    /** The maximum length of a message on a reliable connection, by the InfiniBand specification. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;

    static final int GID_TABLE_LENGTH = 1024;

    private static final int LINK_LOCAL_INDEX = 0;

    /** Communication management is supported: {@code IBV_PORT_CM_SUP}. */
    private static final int PORT_CAPABILITIES = 1 << 16;

    /** The maximum length of the headers in an IP packet: IPv6, UDP, BTH, the longest extension headers, ICRC. */
    private static final int HEADER_BYTES = 96;

    private final SoftDevices devices;
    private final String networkName;
    private final int index;
    private final long guid;

    /** Held while the addresses of the interface are read and entered, so that no older reading replaces a newer one. */
    private final Object refreshing = new Object();

    /**
     * Addresses by GID index; null where there is none. Only the index of the link-local address is reused, for another
     * link-local address. Guarded by this object. No thread holds its lock while it queries the system, because threads that hold
     * an engine's lock look up addresses.
     */
    private final List<@Nullable InetAddress> addresses = new ArrayList<>();

    /** Both halves of each GID in the table, for callers that check each packet. */
    private volatile long[] gidHalves = {};

    private final DeviceCounters counters = new DeviceCounters();
    private volatile PortReading reading = new PortReading(true, false, 0);

    SoftDevice(SoftDevices devices, InterfaceView network) {
        this.devices = devices;
        networkName = network.name();
        index = network.index();
        guid = NodeGuid.of(network);
        addresses.add(null); // at LINK_LOCAL_INDEX
    }

    @Override
    public String name() {
        return "rdma4j_" + networkName;
    }

    @Override
    public long guid() {
        return guid;
    }

    /** Returns the set of devices that this one belongs to. */
    SoftDevices devices() {
        return devices;
    }

    /** Returns the name of the network interface. */
    public String networkName() {
        return networkName;
    }

    /** Returns the index of the network interface. */
    int networkIndex() {
        return index;
    }

    @Override
    public DeviceContext open() {
        try {
            reading = PortReading.of(network());
        } catch (SocketException e) {
            throw SystemFailure.of("ibv_open_device", "find the network interface " + networkName, e, "");
        }
        if (!reading.exists) {
            throw new RdmaException(
                    "ibv_open_device",
                    Errno.ENODEV,
                    name() + ": the network interface " + networkName + " no longer exists",
                    "List the devices again");
        }
        SoftContext context = new SoftContext(this, devices.running());
        devices.watch().add(context);
        devices.onOpened(context);
        return context;
    }

    private @Nullable InterfaceView network() throws SocketException {
        return ownOrNull(devices.host().named(networkName));
    }

    /** Returns null if the interface has replaced the interface of this device. */
    private @Nullable InterfaceView ownOrNull(@Nullable InterfaceView network) {
        return network != null && network.index() == index ? network : null;
    }

    /** Returns the counters of its queue pairs. */
    DeviceCounters counters() {
        return counters;
    }

    // ---- the GID table ----

    /** Returns the current GIDs in table order. */
    List<Gid> gids() {
        refresh();
        List<Gid> gids = new ArrayList<>();
        synchronized (this) {
            for (InetAddress address : addresses) {
                gids.add(address == null ? Gid.ZERO : Gid.of(address));
            }
        }
        return gids;
    }

    /** Returns the current local addresses in table order. */
    public List<InetAddress> addresses() {
        refresh();
        List<InetAddress> present = new ArrayList<>();
        synchronized (this) {
            for (InetAddress address : addresses) {
                if (address != null) {
                    present.add(address);
                }
            }
        }
        return present;
    }

    /**
     * Returns the GID index of a local address of this device. An address of 127/8, all of which belong to the loopback device,
     * gets an index on first use.
     */
    public int gidIndex(InetAddress address) {
        int known = find(address);
        if (known >= 0) {
            return known;
        }
        refresh();
        synchronized (this) {
            known = find(address);
            return known >= 0 ? known : add(address);
        }
    }

    /** Ensures that an address of this device has a GID. */
    void require(InetAddress address) {
        var _ = gidIndex(address);
    }

    /** Returns the address at an index of the GID table, or null. */
    @Nullable
    InetAddress address(int gidIndex) {
        InetAddress known = known(gidIndex);
        if (known == null) {
            refresh();
            known = known(gidIndex);
        }
        return known;
    }

    private synchronized @Nullable InetAddress known(int gidIndex) {
        return gidIndex >= 0 && gidIndex < addresses.size() ? addresses.get(gidIndex) : null;
    }

    /**
     * Returns whether a port has an address of this device, according to the GID table. Takes no lock and allocates
     * nothing.
     */
    boolean has(Port port) {
        if (port.scope() != 0 && port.scope() != index) {
            return false;
        }
        return has(port.high(), port.low());
    }

    /** Returns whether an address is in the GID table. Takes no lock and allocates nothing. */
    boolean has(long high, long low) {
        long[] halves = gidHalves;
        for (int i = 0; i < halves.length; i += 2) {
            if (halves[i + 1] == low && halves[i] == high) {
                return true;
            }
        }
        return false;
    }

    private void publishGids() {
        LongStream.Builder halves = LongStream.builder();
        for (InetAddress address : addresses) {
            if (address != null) {
                halves.add(Gid.of(address).high()).add(Gid.of(address).low());
            }
        }
        gidHalves = halves.build().toArray();
    }

    private synchronized int find(InetAddress address) {
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

    private synchronized int add(InetAddress address) {
        int index = addresses.size();
        if (Gid.of(address).isLinkLocal() && addresses.get(LINK_LOCAL_INDEX) == null) {
            index = LINK_LOCAL_INDEX;
            addresses.set(index, address);
        } else {
            addresses.add(address);
        }
        publishGids();
        return index;
    }

    private void refresh() {
        synchronized (refreshing) {
            InterfaceView network;
            try {
                network = network();
            } catch (SocketException unknown) {
                return; // the addresses are unknown, not removed: the device keeps them
            }
            enter(network == null ? List.of() : inTableOrder(network), network != null);
        }
    }

    /** Returns the addresses of the interface, in the order of their age if several of a family need an index. */
    private List<InetAddress> inTableOrder(InterfaceView network) {
        List<InetAddress> present = network.addresses();
        // Most interfaces have one address of each family, which needs no query for ages.
        return areSeveralMissing(present, true) || areSeveralMissing(present, false)
                ? devices.host().oldestFirst(network)
                : present;
    }

    private boolean areSeveralMissing(List<InetAddress> present, boolean isIpv4) {
        long missing = present.stream()
                .filter(each -> Gid.of(each).isIpv4() == isIpv4 && !Gid.of(each).isLinkLocal() && find(each) < 0)
                .count();
        return missing > 1;
    }

    private synchronized void enter(List<InetAddress> present, boolean exists) {
        for (int i = 0; i < addresses.size(); i++) {
            InetAddress address = addresses.get(i);
            boolean isLoopback = address != null && address.isLoopbackAddress() && exists;
            if (address != null && !isLoopback && present.stream().noneMatch(each -> isSame(each, address))) {
                addresses.set(i, null);
                publishGids();
            }
        }
        addMissing(present, true);
        addMissing(present, false);
    }

    private void addMissing(List<InetAddress> present, boolean isIpv4) {
        for (InetAddress address : present) {
            if (Gid.of(address).isIpv4() == isIpv4 && find(address) < 0) {
                add(address);
            }
        }
    }

    // ---- the port ----

    /**
     * The attributes of the interface that the system has reported last. They are kept if the system cannot report them, for
     * example for lack of descriptors.
     */
    private record PortReading(boolean exists, boolean isUp, int mtuBytes) {
        static PortReading of(@Nullable InterfaceView network) throws SocketException {
            return network == null
                    ? new PortReading(false, false, 0)
                    : new PortReading(true, network.isUp(), network.mtuBytes());
        }
    }

    /** Returns the path MTU, which may be slightly outdated; for frequent calls. */
    public PathMtu activeMtu() {
        try {
            reading = PortReading.of(ownOrNull(devices.host().recentlyNamed(networkName)));
        } catch (SocketException unknown) {
            return activeMtu(reading.mtuBytes);
        }
        return activeMtu(reading.mtuBytes);
    }

    private static PathMtu activeMtu(int packetBytes) {
        return PathMtu.atMost(Math.max(0, packetBytes - HEADER_BYTES));
    }

    PortAttributes port() {
        int speedMegabits = 0;
        try {
            InterfaceView network = network();
            reading = PortReading.of(network);
            speedMegabits = network == null ? 0 : network.megabitsPerSecond();
        } catch (SocketException unknown) {
            speedMegabits = 0; // the other attributes keep their last values
        }
        boolean up = reading.isUp;
        LinkSpeed speed = LinkSpeed.of(speedMegabits);
        QueuePairCounters sums = counters.sums();
        return PortAttributes.builder()
                .partitionKeyViolations(sums.badPartitionKey)
                .queueKeyViolations(sums.badQueueKey)
                .state(up ? PortState.ACTIVE : PortState.DOWN)
                .physicalState(up ? PhysicalPortState.LINK_UP : PhysicalPortState.DISABLED)
                .maxMtu(PathMtu.MTU_4096)
                .activeMtu(activeMtu(reading.mtuBytes))
                .gidTableLength(GID_TABLE_LENGTH)
                .partitionKeyTableLength(Limits.PARTITION_KEYS)
                .maxMessageBytes(MAX_MESSAGE_BYTES)
                .capabilityBits(PORT_CAPABILITIES)
                .activeWidth(speed.width())
                .activeSpeed(speed.laneSpeed())
                .networkInterface(networkName)
                .build();
    }

    @Override
    public String toString() {
        List<String> texts = new ArrayList<>();
        for (InetAddress address : addresses()) {
            texts.add(AddressText.of(address));
        }
        return name() + " " + texts;
    }
}
