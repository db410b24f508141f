package io.rdma4j.soft.sharing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The socket files of a stack, which are removed when the process exits.
 *
 * <p>The next owner of an address replaces the file that a killed process leaves. Thread safe.
 */
final class SocketFiles {
    private final Set<Path> files = ConcurrentHashMap.newKeySet();

    void removeAtExit(Path path) {
        files.add(path);
    }

    void removeAll() {
        files.forEach(SocketFiles::remove);
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
