package io.rdma4j.variants;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The folders of this project's sources and classes. Variants can be built only where the project was built. */
final class Project {
    /** The modules whose classes a simulation uses. */
    static final List<String> MODULES = List.of(
            "lib/wire",
            "lib/transport",
            "lib/link",
            "lib/verbs",
            "lib/cm",
            "lib/sharing",
            "lib/soft",
            "lib/sockets",
            "apps/simulator");

    private Project() {}

    /**
     * Returns the project's folder: the property {@code rdma4j.home}, or the nearest folder, from the current one
     * upwards, that contains the sources.
     *
     * @throws IllegalStateException if there is none
     */
    static Path home() {
        String named = System.getProperty("rdma4j.home");
        if (named != null) {
            return Path.of(named);
        }
        Path start = Path.of("").toAbsolutePath();
        for (Path each = start; each != null; each = each.getParent()) {
            if (Files.isDirectory(each.resolve("lib/transport/src/main/java"))) {
                return each;
            }
        }
        throw new IllegalStateException("no sources of this project in or above " + start
                + "; run this in the project's folder, or name that folder with -Drdma4j.home=");
    }

    /** Returns the source folder of a module. */
    static Path sources(Path home, String module) {
        return home.resolve(module).resolve("src/main/java");
    }

    /** Returns the class folders of all modules. */
    static List<Path> classes(Path home) {
        return MODULES.stream()
                .map(module -> home.resolve(module).resolve("target/classes"))
                .toList();
    }
}
