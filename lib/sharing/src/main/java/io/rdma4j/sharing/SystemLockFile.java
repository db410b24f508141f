package io.rdma4j.sharing;

import io.rdma4j.link.LockQuery;
import io.rdma4j.link.system.LinkSets;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
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
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A lock file of the file system. The system releases its locks when the process ends, for any reason.
 *
 * <p>All stacks of the process share one object for each path, which stays open until the last of them closes it: POSIX releases
 * all locks of a process on a file when the process closes any descriptor of that file. The registry of open lock files is
 * therefore the only state in this module that belongs to the process and not to a stack.
 *
 * <p>A process that checks whether a byte is locked does not lock it if it can query the system. Otherwise it locks the
 * byte, and the guard byte, for the duration of the check. A process that finds a byte locked retries while it holds
 * the guard: then no check can be the reason (decision 055).
 */
final class SystemLockFile implements LockFile {
    /** The byte that is locked while a process checks by locking, or tries again. */
    static final long GUARD = Long.MAX_VALUE - 1;

    private static final System.Logger LOGGER = System.getLogger(SystemLockFile.class.getName());

    /**
     * The time to wait for the guard. It is held for some microseconds, unless its process is stopped at that moment or
     * removes the directory.
     */
    private static final long GUARD_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final Map<Path, SystemLockFile> OPEN = new HashMap<>();

    private final Path path;

    /** The locks of all stacks of this process by their byte. */
    private final Map<Long, Held> held = new HashMap<>();

    private RandomAccessFile file;

    /** The file's channel, closed with it. Used only for locks: writing through it in an interrupted thread would close it. */
    private FileChannel channel;

    /** Null if the system cannot be queried. */
    private @Nullable LockQuery query;

    private @Nullable Object identity;

    /** Guarded by {@link #OPEN}. */
    private int users;

    /** A byte that this process has locked, once for all its stacks. */
    private static final class Held {
        private FileLock lock;
        private int users = 1;

        Held(FileLock lock) {
            this.lock = lock;
        }
    }

    private SystemLockFile(Path path) throws IOException {
        this.path = path;
        // Read before the file is opened: if another process replaces the file in between, the two differ.
        identity = createAndIdentify(path);
        file = open(path.toFile());
        channel = file.getChannel();
        try {
            query = LinkSets.openLockQuery(path);
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    private static @Nullable Object createAndIdentify(Path path) throws IOException {
        if (!Files.exists(path)) {
            FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE)
                    .close();
        }
        return identity(path);
    }

    private static RandomAccessFile open(File existing) throws IOException {
        return new RandomAccessFile(existing, "rw");
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
    public synchronized boolean isCurrent() throws IOException {
        return Objects.equals(identity, identity(path));
    }

    private static @Nullable Object identity(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return path; // equals no file key
        }
    }

    /** Also keeps away programs that remove files that have not changed for long. */
    @Override
    public synchronized void keep() throws IOException {
        if (!channel.isOpen()) {
            return; // the last stack has ended meanwhile
        }
        restore();
        // Not with Files.setLastModifiedTime: it opens and closes the file, which releases the process' locks.
        file.seek(0);
        file.write(0);
    }

    /** Takes all locks again in the file that is now at the path, if that is not the one that was opened. */
    private void restore() throws IOException {
        if (isCurrent() || !Files.exists(path.getParent())) {
            return;
        }
        Object currentIdentity = createAndIdentify(path);
        RandomAccessFile current = open(path.toFile());
        LockQuery currentQuery;
        try {
            currentQuery = LinkSets.openLockQuery(path);
        } catch (IOException e) {
            current.close();
            throw e;
        }
        for (Map.Entry<Long, Held> each : held.entrySet()) {
            FileLock lock = lock(
                    current.getChannel(), each.getKey(), each.getValue().lock.isShared());
            if (lock != null) {
                each.getValue().lock = lock;
            } else {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "{0} was removed while this process used it, and another process has locked the same since: two processes"
                                + " may use one RDMA port or slot. Keep files of running processes, or name another directory by "
                                + RunDirectory.OVERRIDE,
                        path);
            }
        }
        closeBoth();
        identity = currentIdentity;
        file = current;
        channel = current.getChannel();
        query = currentQuery;
    }

    @Override
    public synchronized @Nullable ByteLock tryLock(long at, boolean shared) throws IOException {
        Held known = held.get(at);
        if (known != null) {
            if (!shared || !known.lock.isShared()) {
                return null;
            }
            known.users++;
            return new SystemLock(at, known);
        }
        restore();
        FileLock lock = lock(channel, at, shared);
        if (lock == null) {
            FileLock guard = awaitGuard();
            if (guard == null) {
                throw new IOException("another process holds the locks of " + path + "; it may be stopped");
            }
            try {
                lock = lock(channel, at, shared);
            } finally {
                guard.release();
            }
        }
        if (lock == null) {
            return null;
        }
        Held added = new Held(lock);
        held.put(at, added);
        return new SystemLock(at, added);
    }

    /** Returns null if another process, or another channel of this one, holds a lock that excludes it. */
    private static @Nullable FileLock lock(FileChannel channel, long at, boolean shared) throws IOException {
        try {
            return channel.tryLock(at, 1, shared);
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    /** Returns the locked guard, or null if it does not become free in time. */
    private @Nullable FileLock awaitGuard() throws IOException {
        long start = System.nanoTime();
        FileLock guard = lock(channel, GUARD, false);
        while (guard == null && System.nanoTime() - start < GUARD_NANOS) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return null;
            }
            guard = lock(channel, GUARD, false);
        }
        return guard;
    }

    @Override
    public synchronized boolean isLockedElsewhere(long at) throws IOException {
        LockQuery asked = query;
        if (held.containsKey(at)) {
            return true;
        }
        if (asked != null && !asked.isLockedElsewhere(at, 1)) {
            return false;
        }
        // It is locked, but perhaps only by a process that checks by locking.
        FileLock guard = awaitGuard();
        if (guard == null) {
            return true;
        }
        try {
            return asked != null ? asked.isLockedElsewhere(at, 1) : !canBeLocked(at);
        } finally {
            guard.release();
        }
    }

    private boolean canBeLocked(long at) throws IOException {
        FileLock probe = lock(channel, at, false);
        if (probe != null) {
            probe.release();
        }
        return probe != null;
    }

    @Override
    public void close() throws IOException {
        synchronized (OPEN) {
            if (--users == 0) {
                OPEN.remove(path, this);
                closeBoth();
            }
        }
    }

    /** Closes both at the same time: closing either releases the locks. */
    private synchronized void closeBoth() throws IOException {
        if (query != null) {
            query.close();
        }
        file.close();
    }

    private synchronized void release(long at, Held released) throws IOException {
        if (--released.users == 0) {
            held.remove(at, released);
            if (released.lock.isValid()) {
                released.lock.release();
            }
        }
    }

    private final class SystemLock implements ByteLock {
        private final long at;
        private final Held of;
        private boolean released;

        SystemLock(long at, Held of) {
            this.at = at;
            this.of = of;
        }

        @Override
        public boolean isValid() {
            synchronized (SystemLockFile.this) {
                return !released && of.lock.isValid();
            }
        }

        @Override
        public boolean isShared() {
            synchronized (SystemLockFile.this) {
                return of.lock.isShared();
            }
        }

        @Override
        public void release() throws IOException {
            synchronized (SystemLockFile.this) {
                if (!released) {
                    released = true;
                    SystemLockFile.this.release(at, of);
                }
            }
        }
    }
}
