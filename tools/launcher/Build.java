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
 * build is the one with all checks.
 *
 * <p>Usage: {@code java Build.java CHECKOUT OUTPUT MODULE...}
 */
final class Build {
    private static final String MODULE_PREFIX = "io.rdma4j.";

    /** The modules that a program needs for RDMA sockets over the software device and over hardware devices. */
    private static final List<String> AGENT_MODULES =
            List.of("wire", "transport", "link", "verbs", "cm", "sharing", "soft", "hardware", "sockets");

    private Build() {}

    public static void main(String[] arguments) throws IOException {
        Path checkout = Path.of(arguments[0]);
        Path output = Path.of(arguments[1]);
        List<String> modules = List.of(arguments).subList(2, arguments.length);
        Path classes = output.resolve("classes");
        compile(checkout, classes, modules);
        for (String module : modules) {
            pack(
                    checkout.resolve(module).resolve("src/main/resources"),
                    classes.resolve(MODULE_PREFIX + module),
                    output,
                    module);
        }
        packAgent(checkout, classes, output);
        delete(classes);
    }

    private static void compile(Path checkout, Path classes, List<String> modules) {
        List<String> options = new ArrayList<>(List.of(
                "-d", classes.toString(), "--release", "25", "-g", "-proc:none", "-nowarn", "-encoding", "UTF-8"));
        options.add("--module-source-path");
        options.add("org.jspecify=" + checkout.resolve("tools/launcher/jspecify"));
        for (String module : modules) {
            options.add("--module-source-path");
            options.add(MODULE_PREFIX + module + "=" + checkout.resolve(module).resolve("src/main/java"));
        }
        options.add("--module");
        options.add(String.join(",", modules.stream().map(MODULE_PREFIX::concat).toList()));
        run("javac", options);
    }

    private static void pack(Path resources, Path classes, Path output, String module) {
        List<String> options = new ArrayList<>(List.of("--create", "--file"));
        options.add(output.resolve("rdma4j-" + module + ".jar").toString());
        options.add("--no-compress");
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
    private static void packAgent(Path checkout, Path classes, Path output) throws IOException {
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
                        checkout.resolve("tools/launcher/agent/io/rdma4j/agent/Premain.java")
                                .toString()));
        Path manifest = Files.writeString(
                classes.resolve("MANIFEST.MF"),
                "Premain-Class: io.rdma4j.agent.Premain\nAutomatic-Module-Name: io.rdma4j.agent\n");
        Path jar = Files.createDirectory(output.resolve("agent")).resolve("rdma4j-agent.jar");
        List<String> options = new ArrayList<>(List.of("--create", "--file", jar.toString()));
        options.addAll(List.of("--manifest", manifest.toString(), "--no-compress", "-C", entry.toString(), "."));
        for (String module : AGENT_MODULES) {
            Path ofModule = classes.resolve(MODULE_PREFIX + module);
            Files.delete(ofModule.resolve("module-info.class"));
            options.addAll(List.of("-C", ofModule.toString(), "."));
        }
        options.addAll(List.of("-C", agentResources(checkout, classes).toString(), "."));
        run("jar", options);
    }

    /**
     * Gathers the resources of the modules of the agent. Two modules may have a file with the same name in
     * META-INF/services; these files are concatenated.
     */
    private static Path agentResources(Path checkout, Path classes) throws IOException {
        Path gathered = Files.createDirectory(classes.resolve("agent-resources"));
        for (String module : AGENT_MODULES) {
            Path resources = checkout.resolve(module).resolve("src/main/resources");
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
