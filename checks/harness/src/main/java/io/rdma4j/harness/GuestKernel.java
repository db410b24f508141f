package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The kernel of a guest: Debian's package, which {@code checks/interop/setup} has unpacked into a folder and not installed.
 *
 * @param folder the folder of the kernel
 * @param busybox the first program of the guest: it needs no library
 * @param layer a folder whose files lie over those of this machine in the guest, or null
 * @param hasSiw true if the guest has an iWARP device
 */
public record GuestKernel(
        Path folder, Path busybox, @Nullable Path layer, boolean hasSiw) {
    private static final List<String> MODULES = List.of(
            // the network card and the files of this machine
            "virtio_pci",
            "virtio_net",
            "9p",
            "9pnet_virtio",
            "overlay",
            // the RDMA device, which asks the crypto API for "crc32"
            "crc32_generic",
            "ib_core",
            "rdma_rxe",
            "rdma_ucm",
            "ib_uverbs",
            // loss, delay and reordering in both directions
            "sch_netem",
            "sch_prio",
            "sch_ingress",
            "cls_u32",
            "act_mirred",
            "ifb");

    /** siw asks the crypto API for "crc32c". */
    private static final List<String> SIW_MODULES = List.of("crc32c_generic", "siw", "dummy");

    /** Returns the folder that {@code checks/interop/setup} fills. */
    public static Path cache() {
        return Path.of(System.getenv().getOrDefault("RDMA4J_INTEROP_CACHE", "/var/cache/rdma4j-interop"));
    }

    /** Returns the kernel of a series, 6.1 or 6.12, with the programs of this machine. */
    public static GuestKernel of(String series) {
        if (!series.equals("6.1") && !series.equals("6.12")) {
            throw new IllegalArgumentException("the kernels are 6.1 and 6.12, not " + series);
        }
        Path folder = cache().resolve(series.equals("6.1") ? "kernel" : "kernel-" + series);
        return new GuestKernel(folder, cache().resolve("busybox/bin/busybox"), null, false);
    }

    /** Returns the kernel with the RDMA programs of Debian 13, which belong to series 6.12. */
    public GuestKernel withDebian13() {
        return new GuestKernel(folder, busybox, cache().resolve("debian13"), hasSiw);
    }

    /** Returns the kernel with an iWARP device, for which Debian's kernels have no module. */
    public GuestKernel withSiw() {
        return new GuestKernel(folder, busybox, layer, true);
    }

    /** Returns what is missing, and the option of {@code checks/interop/setup} that installs it. */
    public List<String> missing() throws IOException {
        List<String> missing = new ArrayList<>();
        if (!Files.isExecutable(busybox)) {
            missing.add(busybox.toString());
        }
        String release = release();
        if (release == null) {
            missing.add("a guest kernel in " + folder);
        } else if (hasSiw && !Files.exists(modules(release).resolve("extra/siw.ko"))) {
            missing.add("the module siw for it (--hardware)");
        }
        if (layer != null && !Files.exists(layer.resolve("complete"))) {
            missing.add("the programs of Debian 13 in " + layer + " (--newer)");
        }
        return missing;
    }

    /** Returns the release of the unpacked kernel, or null if there is none. */
    public @Nullable String release() throws IOException {
        Path releases = folder.resolve("lib/modules");
        if (!Files.isDirectory(releases)) {
            return null;
        }
        try (Stream<Path> names = Files.list(releases)) {
            return names.map(name -> name.getFileName().toString())
                    .filter(name -> Files.exists(modules(name).resolve("modules.dep")))
                    .filter(name -> Files.exists(image(name)))
                    .max(Comparator.naturalOrder())
                    .orElse(null);
        }
    }

    private String requireRelease() throws IOException {
        String release = release();
        if (release == null) {
            throw new IOException("there is no kernel in " + folder);
        }
        return release;
    }

    private Path modules(String release) {
        return folder.resolve("lib/modules").resolve(release);
    }

    private Path image(String release) {
        return folder.resolve("boot/vmlinuz-" + release);
    }

    /** Returns the file of the kernel itself. */
    Path image() throws IOException {
        return image(requireRelease());
    }

    /**
     * Writes the first file system of the guest: busybox, the modules, and the scripts {@code guest-init} and
     * {@code guest-agent}.
     */
    void writeInitramfs(Path file, Path scripts) throws IOException, InterruptedException {
        Path tree = Files.createDirectories(file.resolveSibling(file.getFileName() + ".tree"));
        for (String each : List.of("bin", "dev", "proc", "sys", "modules", "root", "mnt")) {
            Files.createDirectories(tree.resolve(each));
        }
        Files.copy(busybox, tree.resolve("bin/busybox"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.createSymbolicLink(tree.resolve("bin/sh"), Path.of("busybox"));
        Files.copy(scripts.resolve("guest-init"), tree.resolve("init"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.copy(scripts.resolve("guest-agent"), tree.resolve("agent"), StandardCopyOption.COPY_ATTRIBUTES);
        Path folderOfModules = modules(requireRelease());
        List<String> order = new ArrayList<>();
        for (String path : moduleFiles(folderOfModules)) {
            Path module = folderOfModules.resolve(path);
            String name = module.getFileName().toString().replaceFirst("\\.xz$", "");
            order.add(name);
            Path target = tree.resolve("modules").resolve(name);
            if (path.endsWith(".xz")) {
                shell("xz -dc \"$1\" >\"$2\"", module, target);
            } else {
                Files.copy(module, target);
            }
        }
        Files.write(tree.resolve("modules/order"), order);
        shell("chmod 755 \"$1\" \"$2\"", tree.resolve("init"), tree.resolve("agent"));
        shell("cd \"$1\" && find . | \"$2\" cpio -o -H newc 2>/dev/null >\"$3\"", tree, busybox, file);
        shell("rm -rf \"$1\"", tree);
    }

    private static void shell(String script, Path... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        for (Path each : arguments) {
            command.add(each.toString());
        }
        var _ = Command.run(command);
    }

    /** Returns the files of the modules and of those that they need, in an order that insmod accepts. */
    private List<String> moduleFiles(Path modules) throws IOException {
        Map<String, String> paths = new HashMap<>();
        Map<String, List<String>> needs = new HashMap<>();
        for (String line : Files.readAllLines(modules.resolve("modules.dep"))) {
            int colon = line.indexOf(':');
            String path = line.substring(0, colon);
            String rest = line.substring(colon + 1).strip();
            paths.put(nameOf(path), path);
            // The deepest dependency is the last one.
            needs.put(
                    path,
                    rest.isEmpty() ? List.of() : List.of(rest.split(" +", -1)).reversed());
        }
        Set<String> builtIn = new LinkedHashSet<>();
        for (String line : Files.readAllLines(modules.resolve("modules.builtin"))) {
            builtIn.add(nameOf(line));
        }
        List<String> wanted = new ArrayList<>(MODULES);
        if (hasSiw) {
            wanted.addAll(SIW_MODULES);
        }
        Set<String> files = new LinkedHashSet<>();
        for (String name : wanted) {
            String path = paths.get(name);
            if (path != null) {
                files.addAll(needs.getOrDefault(path, List.of()));
                files.add(path);
            } else if (!builtIn.contains(name)) {
                throw new IOException("no module " + name + " in " + modules);
            }
        }
        return List.copyOf(files);
    }

    private static String nameOf(String path) {
        return path.replaceFirst(".*/", "").replaceFirst("\\.ko.*", "").replace('-', '_');
    }
}
