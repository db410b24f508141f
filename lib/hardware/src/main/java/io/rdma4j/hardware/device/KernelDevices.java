package io.rdma4j.hardware.device;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Lists the RDMA devices of this host's kernel. */
final class KernelDevices {
    private static final String IWARP_NODE = "4:";

    private final Path classes;
    private final Path files;
    private final Supplier<List<HardwareDevice>> library;

    /**
     * Creates the reader.
     *
     * @param classes the kernel's classes of devices, {@code /sys/class}
     * @param files the device files, {@code /dev/infiniband}
     * @param library lists the devices of libibverbs; the list is empty without the library
     */
    KernelDevices(Path classes, Path files, Supplier<List<HardwareDevice>> library) {
        this.classes = classes;
        this.files = files;
        this.library = library;
    }

    /** Returns the devices in the order of their names. */
    List<KernelDevice> list() {
        List<KernelDevice> found = new ArrayList<>();
        Map<String, Path> verbsFiles = verbsFiles();
        List<HardwareDevice> usable = library.get();
        for (String name : names(classes.resolve("infiniband"))) {
            HardwareDevice device = usable.stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElse(null);
            boolean isIwarp = content(
                            classes.resolve("infiniband").resolve(name).resolve("node_type"))
                    .startsWith(IWARP_NODE);
            found.add(new KernelDevice(name, isIwarp, verbsFiles.get(name), files.resolve("rdma_cm"), device));
        }
        return found;
    }

    /** Returns the device files by the names of their devices. */
    private Map<String, Path> verbsFiles() {
        Map<String, Path> found = new TreeMap<>();
        Path verbs = classes.resolve("infiniband_verbs");
        for (String file : names(verbs)) {
            found.put(content(verbs.resolve(file).resolve("ibdev")), files.resolve(file));
        }
        return found;
    }

    private static String content(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException unknown) {
            return "";
        }
    }

    private static SortedSet<String> names(Path folder) {
        SortedSet<String> names = new TreeSet<>();
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
            children.forEach(child -> names.add(String.valueOf(child.getFileName())));
        } catch (IOException none) {
            return names;
        }
        return names;
    }
}
