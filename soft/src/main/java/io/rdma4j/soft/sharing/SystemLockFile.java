package io.rdma4j.soft.sharing;

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
 * A lock file of the file system. The system releases its locks when the process ends, however it ends.
 *
 * <p>All stacks of the process share one object for each path, which stays open until the last of them closes it: POSIX
 * releases all locks of a process on a file when the process closes any descriptor of that file. So the registry of open lock
 * files is the one state in this room that belongs to the process, and not to a stack.
 */
final class SystemLockFile implements LockFile {
    private static final Map<Path, SystemLockFile> OPEN = new HashMap<>();

    private final Path path;
    private final FileChannel channel;
    private final @Nullable Object identity;

    /** Guarded by {@link #OPEN}. */
    private int users;

    private SystemLockFile(Path path) throws IOException {
        this.path = path;
        if (!Files.exists(path)) {
            FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE)
                    .close();
        }
        // Read before the file is opened: if another process replaces the file in between, the two differ.
        identity = identity(path);
        channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** Opens the file at a path, and creates it if it does not exist. Thread safe. */
    static SystemLockFile open(Path path) throws IOException {
        Path absolute = path.toAbsolutePath().normalize();
        synchronized (OPEN) {
            SystemLockFile known = OPEN.get(absolute);
            if (known == null) {
                known = new SystemLockFile(absolute);
                OPEN.put(absolute, known);
            }
            known.users++;
            return known;
        }
    }

    /** Returns whether this process has the file at a path open. Thread safe. */
    static boolean isOpen(Path path) {
        synchronized (OPEN) {
            return OPEN.containsKey(path.toAbsolutePath().normalize());
        }
    }

    @Override
    public boolean isCurrent() throws IOException {
        synchronized (OPEN) {
            if (Objects.equals(identity, identity(path))) {
                return true;
            }
            OPEN.remove(path, this); // the next open() opens the new file; other locks on this one stay held
            return false;
        }
    }

    private static @Nullable Object identity(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return path; // equals no file key
        }
    }

    @Override
    public @Nullable ByteLock tryLock(long at, boolean shared) throws IOException {
        try {
            FileLock lock = channel.tryLock(at, 1, shared);
            return lock == null ? null : new SystemLock(lock);
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (OPEN) {
            if (--users == 0) {
                OPEN.remove(path, this);
                channel.close();
            }
        }
    }

    private record SystemLock(FileLock lock) implements ByteLock {
        @Override
        public boolean isValid() {
            return lock.isValid();
        }

        @Override
        public boolean isShared() {
            return lock.isShared();
        }

        @Override
        public void release() throws IOException {
            lock.release();
        }
    }
}
