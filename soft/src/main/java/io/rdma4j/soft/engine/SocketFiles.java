package io.rdma4j.soft.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Socket files to remove when the process ends by itself; one that is killed leaves them to the next owner. */
final class SocketFiles {
    private static final Set<Path> FILES = ConcurrentHashMap.newKeySet();

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(SocketFiles::removeAll, "rdma4j-exit"));
        } catch (IllegalStateException ending) {
            // The process ends already; the next owner replaces what is left.
            FILES.clear();
        }
    }

    private SocketFiles() {}

    static void removeAtExit(Path path) {
        FILES.add(path);
    }

    private static void removeAll() {
        for (Path path : FILES) {
            remove(path);
        }
    }

    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // The next owner replaces it.
            return;
        }
    }
}
