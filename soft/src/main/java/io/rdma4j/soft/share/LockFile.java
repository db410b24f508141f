package io.rdma4j.soft.share;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A file whose bytes are locks between processes; the system frees them when a process ends, however it ends.
 *
 * <p>There is one for each path, open for the life of the process: closing any handle of a file, as the garbage collector
 * does with one that is forgotten, would free all of the process' locks on it.
 */
final class LockFile {
    private static final Map<Path, LockFile> ALL = new HashMap<>();

    private final Path path;
    private final FileChannel channel;
    private final @Nullable Object identity;

    private LockFile(Path path) throws IOException {
        this.path = path;
        if (!Files.exists(path)) {
            FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE)
                    .close();
        }
        // Taken before: if the file is replaced in between, it is not the identity of the one that is there.
        identity = identity(path);
        channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** The file at a path, opened or made at the first call. Thread safe. */
    static LockFile at(Path path) throws IOException {
        Path absolute = path.toAbsolutePath().normalize();
        synchronized (ALL) {
            LockFile known = ALL.get(absolute);
            if (known == null) {
                known = new LockFile(absolute);
                ALL.put(absolute, known);
            }
            return known;
        }
    }

    /** Whether this process has the file at a path open. Thread safe. */
    static boolean isOpen(Path path) {
        synchronized (ALL) {
            return ALL.containsKey(path.toAbsolutePath().normalize());
        }
    }

    /**
     * Whether this is still the file at its path, and not one that another process has removed; if not, the next {@link #at}
     * opens the one that is there. Thread safe.
     */
    boolean isCurrent() throws IOException {
        synchronized (ALL) {
            if (Objects.equals(identity, identity(path))) {
                return true;
            }
            ALL.remove(path, this); // not closed here: its other locks, if there are any, live as long as they are held
            return false;
        }
    }

    private static @Nullable Object identity(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return path; // no file's key
        }
    }

    /** Locks byte {@code at}, or returns null if another process, or another copy of this class here, has it. */
    @Nullable
    FileLock tryLock(long at, boolean shared) throws IOException {
        try {
            return channel.tryLock(at, 1, shared);
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    /** Whether another process holds a lock on byte {@code at} that excludes an exclusive one. */
    boolean isLockedElsewhere(long at) throws IOException {
        FileLock probe = tryLock(at, false);
        if (probe == null) {
            return true;
        }
        probe.release();
        return false;
    }
}
