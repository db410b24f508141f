package io.rdma4j.tools.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * An RDMA device of the Linux kernel, as listed by sysfs.
 *
 * @param name the name, for example {@code rxe0}
 */
record KernelDevice(String name) {
    private static final Path FOLDER = Path.of("/sys/class/infiniband");

    /** Returns all devices, or an empty list on other systems. */
    static List<KernelDevice> list() {
        try (Stream<Path> devices = Files.list(FOLDER)) {
            return devices.map(device -> new KernelDevice(String.valueOf(device.getFileName())))
                    .toList();
        } catch (IOException none) {
            return List.of();
        }
    }

    /** Returns the network interface of the device, if sysfs names it. */
    Optional<String> networkInterface() {
        try {
            return Optional.of(
                    Files.readString(FOLDER.resolve(name).resolve("parent")).strip());
        } catch (IOException none) {
            return Optional.empty();
        }
    }
}
