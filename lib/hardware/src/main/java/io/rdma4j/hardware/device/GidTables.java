package io.rdma4j.hardware.device;

import io.rdma4j.cm.host.DescriptorShortage;
import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The devices by their addresses. The kernel has a file for each entry of a device's GID tables, often a thousand
 * files. This class therefore caches the tables: it checks a known address by reading only its entry. Thread safe.
 */
final class GidTables {
    /** The minimum time between two searches for addresses that were not found. */
    static final long MISS_NANOS = 50_000_000;

    /** The pause between two readings is at least this multiple of the duration of a reading. */
    private static final int PAUSE_FACTOR = 10;

    private final Path folder;
    private final Supplier<List<KernelDevice>> devices;
    private final LongSupplier nanoClock;

    private volatile @Nullable Reading last;

    /**
     * Creates the tables; reads nothing yet.
     *
     * @param folder the folder with a folder for each device
     * @param devices lists the present devices
     */
    GidTables(Path folder, Supplier<List<KernelDevice>> devices, LongSupplier nanoClock) {
        this.folder = folder;
        this.devices = devices;
        this.nanoClock = nanoClock;
    }

    /** Returns the device that has an address of this host, if any. */
    Optional<KernelDevice> deviceOf(InetAddress address) {
        Reading current = last;
        if (current != null) {
            Optional<Entry> known = entryOf(current, address);
            if (known.isPresent() && known.get().isStillThere()) {
                return known.map(Entry::device);
            }
            if (known.isEmpty() && nanoClock.getAsLong() - current.nextNanos < 0) {
                return Optional.empty();
            }
        }
        return entryOf(read(), address).map(Entry::device);
    }

    private Reading read() {
        long startNanos = nanoClock.getAsLong();
        List<Entry> entries = new ArrayList<>();
        for (KernelDevice device : devices.get()) {
            for (Path port : children(folder.resolve(device.name()).resolve("ports"))) {
                children(port.resolve("gids"))
                        .forEach(file -> Entry.read(device, file).ifPresent(entries::add));
            }
        }
        long endNanos = nanoClock.getAsLong();
        long pauseNanos = Math.max(MISS_NANOS, PAUSE_FACTOR * (endNanos - startNanos));
        Reading read = new Reading(List.copyOf(entries), endNanos + pauseNanos);
        last = read;
        return read;
    }

    private static Optional<Entry> entryOf(Reading reading, InetAddress address) {
        String gid = Gid.of(address).toString();
        Optional<Entry> found =
                reading.entries.stream().filter(entry -> entry.isOf(gid)).findFirst();
        if (found.isPresent() || reading.entries.stream().noneMatch(Entry::isOfIwarp)) {
            return found;
        }
        String start = startOfIwarpGid(address);
        return start.isEmpty()
                ? found
                : reading.entries.stream()
                        .filter(entry -> entry.isOfIwarp() && entry.gid.startsWith(start))
                        .findFirst();
    }

    /**
     * Returns the start of an iWARP device's GID by an address of its interface. Empty if no interface has the address.
     * An iWARP device has no GID for each address. Its GID starts with the interface's hardware address.
     */
    private static String startOfIwarpGid(InetAddress address) {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(address);
            return found == null ? "" : startOfIwarpGid(found);
        } catch (SocketException unknown) {
            requireAnswer(Path.of("/proc/net"), unknown);
            return "";
        }
    }

    /** Returns the start of the GID of an iWARP device on an interface; empty without a hardware address. */
    static String startOfIwarpGid(NetworkInterface each) throws SocketException {
        byte[] hardware = each.getHardwareAddress();
        return hardware == null || hardware.length != 6
                ? ""
                : "%02x%02x:%02x%02x:%02x%02x:"
                        .formatted(hardware[0], hardware[1], hardware[2], hardware[3], hardware[4], hardware[5]);
    }

    /**
     * Checks that a failure was not caused by a lack of descriptors.
     *
     * @throws RdmaException {@code EMFILE} if this process has no free descriptors; otherwise the search would report
     *     that no device has the address
     */
    private static void requireAnswer(Path at, IOException failure) {
        if (DescriptorShortage.isCauseOf(failure)) {
            throw new RdmaException(
                    "ibv_get_device_list",
                    Errno.EMFILE,
                    "read the GIDs of the devices: " + at + ": " + failure.getMessage(),
                    DescriptorShortage.HINT,
                    failure);
        }
    }

    private static List<Path> children(Path folder) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            files.forEach(found::add);
        } catch (IOException missing) {
            requireAnswer(folder, missing);
            return List.of();
        }
        return found;
    }

    /**
     * The entries of all tables.
     *
     * @param nextNanos the earliest time at which an unknown address causes the tables to be read again
     */
    private record Reading(List<Entry> entries, long nextNanos) {}

    /**
     * An entry of a table.
     *
     * @param file the file with the entry
     * @param identity distinguishes the file from the file of a later device with the same name
     */
    private record Entry(
            KernelDevice device,
            String gid,
            Path file,
            @Nullable Object identity) {
        /** Reads an entry; empty if it has no address, which is true of most entries. */
        static Optional<Entry> read(KernelDevice device, Path file) {
            try {
                Object identity =
                        Files.readAttributes(file, BasicFileAttributes.class).fileKey();
                String gid = SystemFile.read(file);
                return gid.equals(Gid.ZERO.toString())
                        ? Optional.empty()
                        : Optional.of(new Entry(device, gid, file, identity));
            } catch (IOException missing) {
                requireAnswer(file, missing);
                return Optional.empty();
            }
        }

        boolean isStillThere() {
            return read(device, file)
                    .filter(now -> now.gid.equals(gid) && Objects.equals(now.identity, identity))
                    .isPresent();
        }

        boolean isOfIwarp() {
            return device.isIwarp();
        }

        /** Returns whether this entry, of a RoCE device, is the GID of an address. */
        boolean isOf(String addressGid) {
            return !isOfIwarp() && gid.equals(addressGid);
        }
    }
}
