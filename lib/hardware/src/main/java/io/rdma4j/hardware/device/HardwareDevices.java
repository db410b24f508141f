package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.library.Libibverbs;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The devices of this host, without the software device. Thread safe. */
public final class HardwareDevices {
    /** The kernel's list of devices. Without it, this class does not load libibverbs. */
    private static final Path CLASS = Path.of("/sys/class/infiniband");

    private static final KernelDevices OF_KERNEL =
            new KernelDevices(Path.of("/sys/class"), Path.of("/dev/infiniband"), HardwareDevices::list);

    private static final GidTables TABLES = new GidTables(CLASS, OF_KERNEL::list, System::nanoTime);

    /** Prepares libibverbs before the first call. */
    private static final class Preparation {
        static {
            try (Call call = new Call()) {
                // On old kernels, the parent of a forked process would lose its registered pages. On others the call
                // does nothing.
                long _ = call.result(Function.FORK_INIT);
            }
        }

        /** Initializes this class. */
        static void run() {}
    }

    private HardwareDevices() {}

    /** Returns the devices that libibverbs lists now, including devices whose files this process may not open. */
    public static List<HardwareDevice> list() {
        return Files.isDirectory(CLASS) && Libibverbs.isUsable() ? read() : List.of();
    }

    /** Reads the devices from libibverbs. */
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

    /** Returns the devices that this process can use now. */
    public static List<HardwareDevice> usable() {
        return Files.isDirectory(CLASS)
                ? OF_KERNEL.list().stream()
                        .flatMap(device -> usable(device).stream())
                        .toList()
                : List.of();
    }

    /**
     * Returns the reasons why this process cannot use the kernel's devices, by their names. The text is empty for a
     * device that it can use.
     */
    public static SortedMap<String, String> problems() {
        SortedMap<String, String> problems = new TreeMap<>();
        OF_KERNEL.list().forEach(device -> problems.put(device.name(), device.problem()));
        return problems;
    }

    private static Optional<HardwareDevice> usable(KernelDevice device) {
        return device.problem().isEmpty() ? Optional.ofNullable(device.device()) : Optional.empty();
    }

    /**
     * Returns the usable device with an address of this host, if any. A new address is found within 50 ms, or within
     * ten times the duration of reading the GID tables, whichever is longer.
     */
    public static Optional<HardwareDevice> of(InetAddress address) {
        return Files.isDirectory(CLASS) ? TABLES.deviceOf(address).flatMap(HardwareDevices::usable) : Optional.empty();
    }

    /**
     * Returns a clause that names an address's device, and explains why this process cannot use it. Empty if no device
     * has the address, if the device is usable, or if it is an iWARP device, which leaves UDP port 4791 to programs.
     */
    public static String refusal(InetAddress address) {
        return Files.isDirectory(CLASS)
                ? TABLES.deviceOf(address).map(HardwareDevices::refusal).orElse("")
                : "";
    }

    private static String refusal(KernelDevice device) {
        String problem = device.isIwarp() ? "" : device.problem();
        return problem.isEmpty() ? "" : device.name() + ", which this process cannot use: " + problem;
    }

    /**
     * Returns a device by the numbers that the kernel's connection manager reports.
     *
     * @param index the number of the device
     * @param nodeGuid its GUID, which is used if no device has the number, for example since the kernel does not report
     *     it
     */
    public static Optional<HardwareDevice> of(int index, long nodeGuid) {
        List<HardwareDevice> all = list();
        return all.stream()
                .filter(device -> device.index() == index)
                .findFirst()
                .or(() ->
                        all.stream().filter(device -> device.guid() == nodeGuid).findFirst());
    }
}
