package io.rdma4j.acceptance.process;

import io.rdma4j.harness.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A run directory for processes of one test. Its path is short, since paths of Unix-domain sockets are limited. */
public final class PrivateRunDirectory implements AutoCloseable {
    private static final String RING = ".ring";

    private final Path path;

    private PrivateRunDirectory(Path path) {
        this.path = path;
    }

    /** Creates an empty directory. */
    public static PrivateRunDirectory create() throws IOException {
        return new PrivateRunDirectory(Files.createTempDirectory("rdma4j-acceptance-"));
    }

    /** Returns the option that makes a process use the directory. */
    public String option() {
        return "-Drdma4j.run.dir=" + path;
    }

    /** Returns the number of files, without the lock files of ports, as for {@link ResourceUsage#descriptors}. */
    public int size() throws IOException {
        return (int) files().stream()
                .filter(file -> !file.getFileName().toString().startsWith(ResourceUsage.PORT_LOCKS))
                .count();
    }

    /** Returns the sockets at which processes take shared memory. */
    public List<Path> rings() throws IOException {
        return files().stream().filter(file -> file.toString().endsWith(RING)).toList();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.sorted().toList();
        }
    }

    @Override
    public void close() {
        Folders.delete(path);
    }
}
