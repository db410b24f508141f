import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * Compiles the modules that the tools need, packs each into a modular jar, and packs the modules that sockets need into
 * the jar of the agent. It needs only a JDK: no Maven and no network. The launcher {@code rdma4j} runs it. The Maven
 * build is the one with all checks (decision 006).
 *
 * <p>Usage: {@code java Build.java CHECKOUT OUTPUT FOLDER...}, with the folders of the modules, such as {@code lib/wire}.
 */
final class Build {
    /** The folder of the modules that a program needs for RDMA sockets over the software device and over hardware devices. */
    private static final String LIBRARY = "lib";

    private Build() {}

    public static void main(String[] arguments) throws IOException {
        Path checkout = Path.of(arguments[0]);
        Path output = Path.of(arguments[1]);
        List<Path> modules = Stream.of(arguments).skip(2).map(checkout::resolve).toList();
        Path classes = output.resolve("classes");
        compile(checkout, classes, modules);
        for (Path module : modules) {
            pack(
                    module.resolve("src/main/resources"),
                    classes.resolve(name(module)),
                    output.resolve("rdma4j-" + module.getFileName() + ".jar"));
        }
        packAgent(
                checkout,
                modules.stream()
                        .filter(module -> module.getParent().endsWith(LIBRARY))
                        .toList(),
                classes,
                output);
        delete(classes);
    }

    /** Returns the name of the module in a folder. */
    private static String name(Path module) {
        return "io.rdma4j." + module.getFileName();
    }

    private static void compile(Path checkout, Path classes, List<Path> modules) {
        List<String> options = new ArrayList<>(List.of(
                "-d", classes.toString(), "--release", "25", "-g", "-proc:none", "-nowarn", "-encoding", "UTF-8"));
        options.add("--module-source-path");
        options.add("org.jspecify=" + checkout.resolve("apps/tools/launcher/jspecify"));
        for (Path module : modules) {
            options.add("--module-source-path");
            options.add(name(module) + "=" + module.resolve("src/main/java"));
        }
        options.add("--module");
        options.add(String.join(",", modules.stream().map(Build::name).toList()));
        run("javac", options);
    }

    private static void pack(Path resources, Path classes, Path jar) {
        List<String> options = new ArrayList<>(List.of("--create", "--file", jar.toString(), "--no-compress"));
        options.addAll(List.of("-C", classes.toString(), "."));
        if (Files.isDirectory(resources)) {
            options.addAll(List.of("-C", resources.toString(), "."));
        }
        run("jar", options);
    }

    /**
     * Packs the modules that sockets need into one jar without module descriptors, which is an agent: {@code
     * -javaagent} puts it on the class path of any program. It has a separate folder, since the folder of the other
     * jars is a module path.
     */
    private static void packAgent(Path checkout, List<Path> modules, Path classes, Path output) throws IOException {
        Path entry = classes.resolve("agent");
        run(
                "javac",
                List.of(
                        "-d",
                        entry.toString(),
                        "--release",
                        "8",
                        "-Xlint:-options",
                        "-proc:none",
                        "-encoding",
                        "UTF-8",
                        checkout.resolve("apps/tools/launcher/agent/io/rdma4j/agent/Premain.java")
                                .toString()));
        Path manifest = Files.writeString(
                classes.resolve("MANIFEST.MF"),
                "Premain-Class: io.rdma4j.agent.Premain\nAutomatic-Module-Name: io.rdma4j.agent\n");
        Path jar = Files.createDirectory(output.resolve("agent")).resolve("rdma4j-agent.jar");
        List<String> options = new ArrayList<>(List.of("--create", "--file", jar.toString()));
        options.addAll(List.of("--manifest", manifest.toString(), "--no-compress", "-C", entry.toString(), "."));
        for (Path module : modules) {
            Path ofModule = classes.resolve(name(module));
            Files.delete(ofModule.resolve("module-info.class"));
            options.addAll(List.of("-C", ofModule.toString(), "."));
        }
        options.addAll(List.of("-C", agentResources(modules, classes).toString(), "."));
        run("jar", options);
    }

    /**
     * Gathers the resources of the modules of the agent. Two modules may have a file with the same name in
     * META-INF/services; these files are concatenated.
     */
    private static Path agentResources(List<Path> modules, Path classes) throws IOException {
        Path gathered = Files.createDirectory(classes.resolve("agent-resources"));
        for (Path module : modules) {
            Path resources = module.resolve("src/main/resources");
            if (Files.isDirectory(resources)) {
                try (Stream<Path> files = Files.walk(resources)) {
                    for (Path file : files.filter(Files::isRegularFile).toList()) {
                        append(file, gathered.resolve(resources.relativize(file).toString()));
                    }
                }
            }
        }
        return gathered;
    }

    private static void append(Path file, Path target) throws IOException {
        Files.createDirectories(target.getParent());
        if (target.getParent().endsWith("META-INF/services")) {
            Files.write(target, Files.readAllBytes(file), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } else {
            Files.copy(file, target);
        }
    }

    private static void run(String tool, List<String> options) {
        int status = ToolProvider.findFirst(tool)
                .orElseThrow(() -> new IllegalStateException("this Java has no " + tool + ": it is not a JDK"))
                .run(System.out, System.err, options.toArray(String[]::new));
        if (status != 0) {
            System.err.println(tool + " ended with status " + status);
            System.exit(1);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted((a, b) -> b.compareTo(a)).forEach(Build::deleteOne);
        }
    }

    private static void deleteOne(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
