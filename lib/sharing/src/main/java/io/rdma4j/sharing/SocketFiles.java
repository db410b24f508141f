package io.rdma4j.sharing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The socket files of a stack, which are removed when the process exits.
 *
 * <p>The next owner of an address replaces the file that a killed process leaves. Thread safe.
 */
final class SocketFiles {
    private final Map<Path, FileIdentity> files = new ConcurrentHashMap<>();

    /** Adds a file that this process has just created. */
    void removeAtExit(Path path) {
        FileIdentity created = FileIdentity.of(path);
        if (created != null) {
            files.put(path, created);
        }
    }

    void removeAll() {
        files.forEach(SocketFiles::remove);
    }

    /** Removes a file, unless another process has taken over the address and replaced it. */
    private static void remove(Path path, FileIdentity created) {
        try {
            if (created.equals(FileIdentity.of(path))) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            // The next owner replaces it.
            return;
        }
    }
}
