package io.rdma4j.testkit.variant;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Where the sources and classes of this project are; variants can only be made where it was built. */
final class Project {
    /** The rooms that a simulation is made of. */
    static final List<String> ROOMS = List.of("wire", "transport", "link", "verbs", "cm", "soft", "sockets", "testkit");

    private Project() {}

    /**
     * The folder of the project: the property {@code rdma4j.home}, or the nearest one above the current that looks like it.
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
            if (Files.isDirectory(each.resolve("transport/src/main/java"))) {
                return each;
            }
        }
        throw new IllegalStateException("no sources of this project in or above " + start
                + "; run it there, or name its folder with -Drdma4j.home=");
    }

    /** The folder of a room's sources. */
    static Path sources(Path home, String room) {
        return home.resolve(room).resolve("src/main/java");
    }

    /** The folders of all rooms' classes. */
    static List<Path> classes(Path home) {
        return ROOMS.stream()
                .map(room -> home.resolve(room).resolve("target/classes"))
                .toList();
    }
}
