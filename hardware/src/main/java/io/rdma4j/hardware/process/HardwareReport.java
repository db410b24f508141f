package io.rdma4j.hardware.process;

import io.rdma4j.hardware.device.HardwareDevices;
import io.rdma4j.hardware.library.Libibverbs;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A device of the kernel, and whether programs can use it.
 *
 * @param name the name, for example {@code mlx5_0}
 * @param isUsable true if verbs and the connection manager work
 * @param explanation a clause that says for what it is used, or why it is not
 */
public record HardwareReport(String name, boolean isUsable, String explanation) {
    private static final Path CLASS = Path.of("/sys/class/infiniband");
    private static final Path FILES = Path.of("/dev/infiniband");

    /** Returns a report of each device of the kernel, in the order of their names; none on a host without devices. */
    public static List<HardwareReport> all() {
        Set<String> names = names(CLASS);
        if (names.isEmpty()) {
            return List.of();
        }
        Set<String> usable =
                HardwareDevices.list().stream().map(device -> device.name()).collect(Collectors.toSet());
        return names.stream().map(name -> of(name, usable.contains(name))).toList();
    }

    private static HardwareReport of(String name, boolean hasDriver) {
        String problem = problem(hasDriver);
        return problem.isEmpty()
                ? new HardwareReport(name, true, "used by programs for its addresses")
                : new HardwareReport(name, false, "not used: " + problem);
    }

    private static String problem(boolean hasDriver) {
        if (!Libibverbs.isUsable()) {
            return Libibverbs.absence();
        }
        if (!hasDriver) {
            return "libibverbs.so.1 has no driver for it; install the package ibverbs-providers";
        }
        Path connectionManager = FILES.resolve("rdma_cm");
        if (!Files.exists(connectionManager)) {
            return connectionManager + " does not exist; load the module rdma_ucm";
        }
        for (String file : names(FILES)) {
            boolean isNeeded = file.startsWith("uverbs") || file.equals("rdma_cm");
            if (isNeeded && !Files.isWritable(FILES.resolve(file))) {
                return FILES.resolve(file) + " cannot be written; check its permissions";
            }
        }
        return "";
    }

    private static Set<String> names(Path folder) {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            files.forEach(file -> names.add(String.valueOf(file.getFileName())));
        } catch (IOException none) {
            return Set.of();
        }
        return names;
    }
}
