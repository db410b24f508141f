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

/** The devices of this host, without the software device. Thread safe. */
public final class HardwareDevices {
    /** The kernel's list of devices. While it does not exist, libibverbs is not even loaded. */
    private static final Path CLASS = Path.of("/sys/class/infiniband");

    private static final GidTables TABLES = new GidTables(CLASS, HardwareDevices::list, System::nanoTime);

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
     * Returns the device that has an address of this host, if any. A new address is found within 50 ms, or within ten times the
     * time that reading the GID tables takes, if that is longer.
     */
    public static Optional<HardwareDevice> of(InetAddress address) {
        return Files.isDirectory(CLASS) ? TABLES.deviceOf(address) : Optional.empty();
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
}
