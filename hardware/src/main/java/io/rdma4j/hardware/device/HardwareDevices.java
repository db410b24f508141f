package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.library.Libibverbs;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.TransportType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The devices of this host, without the software device. Thread safe. */
public final class HardwareDevices {
    /** The kernel's list of devices. While it does not exist, libibverbs is not even loaded. */
    private static final Path CLASS = Path.of("/sys/class/infiniband");

    /** The time for which a device keeps the addresses that were read. */
    private static final long HIT_NANOS = 1_000_000_000;

    /** The time for which an address that was not found is not looked for again. */
    private static final long MISS_NANOS = 50_000_000;

    private static volatile Tables tables = new Tables(System.nanoTime() - 2 * HIT_NANOS, List.of());

    /** Prepares the process for its first call of the library. */
    private static final class Preparation {
        static {
            try (Call call = new Call()) {
                // Old kernels would give a child process the registered pages of its parent. With others it does
                // nothing.
                long _ = call.result(Function.FORK_INIT);
            }
        }

        /** Initializes this class. */
        static void run() {}
    }

    private HardwareDevices() {}

    /** Returns the devices that are there now. */
    public static List<HardwareDevice> list() {
        return Files.isDirectory(CLASS) && Libibverbs.isUsable() ? read() : List.of();
    }

    /** Returns the devices of the library. */
    static List<HardwareDevice> read() {
        Preparation.run();
        List<HardwareDevice> found = new ArrayList<>();
        try (Call call = new Call();
                DeviceList list = new DeviceList(call)) {
            for (long device : list.addresses()) {
                found.add(new HardwareDevice(call, device));
            }
        }
        return List.copyOf(found);
    }

    /**
     * Returns the device that has an address of this host, if any. The tables of addresses are read at most twenty times a
     * second, since a table has a thousand files; a new address is found later by that time.
     */
    public static Optional<HardwareDevice> of(InetAddress address) {
        if (!Files.isDirectory(CLASS)) {
            return Optional.empty();
        }
        Tables current = tables;
        if (current.isOlderThan(HIT_NANOS)) {
            current = readTables();
        }
        Optional<HardwareDevice> found = current.deviceOf(address);
        if (found.isEmpty() && current.isOlderThan(MISS_NANOS)) {
            found = readTables().deviceOf(address);
        }
        return found;
    }

    private static Tables readTables() {
        Tables read = new Tables(
                System.nanoTime(), list().stream().map(DeviceGids::of).toList());
        tables = read;
        return read;
    }

    /**
     * Returns a device by the numbers that the kernel's connection manager reports.
     *
     * @param index the number of the device
     * @param nodeGuid its GUID, which decides with a kernel that does not report the number
     */
    public static Optional<HardwareDevice> of(int index, long nodeGuid) {
        List<HardwareDevice> all = list();
        return all.stream()
                .filter(device -> device.index() == index)
                .findFirst()
                .or(() ->
                        all.stream().filter(device -> device.guid() == nodeGuid).findFirst());
    }

    /** The GIDs of the devices at a time. */
    private record Tables(long readNanos, List<DeviceGids> devices) {
        boolean isOlderThan(long nanos) {
            return System.nanoTime() - readNanos > nanos;
        }

        Optional<HardwareDevice> deviceOf(InetAddress address) {
            return devices.stream()
                    .filter(each -> each.hasAddress(address))
                    .map(DeviceGids::device)
                    .findFirst();
        }
    }

    /** A device and the GIDs of its ports. */
    private record DeviceGids(HardwareDevice device, Set<String> gids) {
        static DeviceGids of(HardwareDevice device) {
            return new DeviceGids(
                    device, Set.copyOf(lines(CLASS.resolve(device.name()).resolve("ports"), "gids")));
        }

        boolean hasAddress(InetAddress address) {
            if (device.transportType() != TransportType.IWARP) {
                return gids.contains(Gid.of(address).toString());
            }
            String start = startOfIwarpGid(address);
            return !start.isEmpty() && gids.stream().anyMatch(gid -> gid.startsWith(start));
        }
    }

    /**
     * Returns the beginning of the GID of the iWARP device whose network interface has an address. It is the hardware address of
     * the interface: such a device has no GID for each address. Empty if no interface has the address.
     */
    private static String startOfIwarpGid(InetAddress address) {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(address);
            byte[] hardware = found == null ? null : found.getHardwareAddress();
            return hardware == null || hardware.length != 6
                    ? ""
                    : "%02x%02x:%02x%02x:%02x%02x:"
                            .formatted(hardware[0], hardware[1], hardware[2], hardware[3], hardware[4], hardware[5]);
        } catch (SocketException unknown) {
            return "";
        }
    }

    /** Returns the first lines of all files in a folder of each port. Entries that are empty cannot be read. */
    private static List<String> lines(Path ports, String folder) {
        List<String> lines = new ArrayList<>();
        for (Path port : children(ports)) {
            for (Path file : children(port.resolve(folder))) {
                try {
                    lines.add(Files.readString(file).strip());
                } catch (IOException empty) {
                    // The next entry may have an address.
                }
            }
        }
        return lines;
    }

    private static List<Path> children(Path folder) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            files.forEach(found::add);
        } catch (IOException missing) {
            return List.of();
        }
        return found;
    }
}
