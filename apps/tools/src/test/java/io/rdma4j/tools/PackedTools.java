package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;

/** The classes under test in jars, as the launcher's build makes them: an ahead-of-time cache needs jars. */
final class PackedTools {
    private static final List<String> MODULES = List.of(
            "wire",
            "transport",
            "link",
            "verbs",
            "cm",
            "sharing",
            "soft",
            "hardware",
            "sockets",
            "simulator",
            "exec",
            "tools");

    private PackedTools() {}

    /** Returns the folder of the classes of a module. */
    private static Path classes(String module) {
        return Checkout.module(module).resolve("target/classes");
    }

    /** Returns the folders of the classes of all modules. */
    static List<Path> classes() {
        return MODULES.stream().map(PackedTools::classes).toList();
    }

    /**
     * Packs the modules as the current build in the build folder of a launcher.
     *
     * @return the folder of the jars
     */
    static Path pack(Path build) throws IOException {
        Path modules = Files.createDirectories(build.resolve("build-test-1"));
        for (String module : MODULES) {
            Path jar = modules.resolve("rdma4j-" + module + ".jar");
            String classes = classes(module).toString();
            int status = ToolProvider.findFirst("jar")
                    .orElseThrow()
                    .run(System.out, System.err, "-c", "-0", "-f", jar.toString(), "-C", classes, ".");
            assertThat(status).isZero();
        }
        Files.createFile(modules.resolve("complete"));
        Files.writeString(build.resolve("current"), "build-test-1\n");
        return modules;
    }
}
