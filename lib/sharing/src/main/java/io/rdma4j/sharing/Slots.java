package io.rdma4j.sharing;

import io.rdma4j.sharing.SharingException.Reason;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * This process' slot: a number from 1 to 254 that is unique among the user's processes in this network namespace.
 *
 * <p>It is the upper part of queue pair numbers and communication IDs, by which the owner of an address relays packets.
 */
public final class Slots implements AutoCloseable {
    private static final int FIRST = 1;
    private static final int COUNT = 254;

    /** The file of the locks; the directory is in use while any of them is held. */
    static final String FILE = "slots";

    /**
     * The number of attempts: the directory may be removed between the check that it exists and the lock, but this is
     * unlikely to happen several times in a row.
     */
    private static final int TRIES = 10;

    private final LockFile file;
    private final LockFile.ByteLock lock;
    private final int slot;

    /** Marks the part of the network namespace as in use; null if the directory has no such part. */
    private final @Nullable Slots ofNamespace;

    private Slots(LockFile file, LockFile.ByteLock lock, int slot, @Nullable Slots ofNamespace) {
        this.file = file;
        this.lock = lock;
        this.slot = slot;
        this.ofNamespace = ofNamespace;
    }

    /**
     * Claims a free slot for the lifetime of this process.
     *
     * @throws SharingException {@link Reason#EXHAUSTED} if all slots are taken, {@link Reason#SYSTEM} if the file system has no locks
     */
    public static Slots claim(RunDirectory directory, RandomGenerator random) throws SharingException {
        try {
            for (int tries = 0; tries < TRIES; tries++) {
                Slots slots = tryClaim(directory, random);
                if (slots != null) {
                    return slots;
                }
            }
        } catch (IOException e) {
            throw new SharingException(
                    Reason.SYSTEM, "lock a slot in " + directory.path(), RunDirectory.LOCAL_FILE_SYSTEM, e);
        }
        throw new SharingException(
                Reason.EXHAUSTED,
                COUNT + " processes of this user use RDMA in this network namespace",
                "Give each group of processes its own directory with " + RunDirectory.OVERRIDE + " and its own address",
                null);
    }

    /** Returns null if all slots are taken, or if a process that saw no slot in use has just removed the file. */
    private static @Nullable Slots tryClaim(RunDirectory directory, RandomGenerator random)
            throws IOException, SharingException {
        directory.renew();
        LockFile file;
        try {
            file = directory.openLockFile(FILE);
        } catch (NoSuchFileException removed) {
            return null;
        }
        Slots claimed = null;
        try {
            claimed = tryClaim(file, random);
        } finally {
            if (claimed == null) {
                file.close();
            }
        }
        return claimed == null || !directory.hasPartOfNamespace() ? claimed : claimed.withNamespace(directory);
    }

    /** Also locks the slot in the part of the network namespace. Returns null if another process has just removed the part. */
    private @Nullable Slots withNamespace(RunDirectory directory) throws IOException {
        LockFile part;
        try {
            part = directory.openLockFileOfNamespace(FILE);
        } catch (NoSuchFileException removed) {
            close();
            return null;
        }
        LockFile.ByteLock use = part.tryLock(slot, false);
        if (use != null && part.isCurrent()) {
            return new Slots(file, lock, slot, new Slots(part, use, slot, null));
        }
        if (use != null) {
            use.release();
        }
        part.close();
        close();
        return null;
    }

    /** Keeps the lock files; see {@link LockFile#keep}. */
    void keep() throws IOException {
        file.keep();
        if (ofNamespace != null) {
            ofNamespace.keep();
        }
    }

    private static @Nullable Slots tryClaim(LockFile file, RandomGenerator random) throws IOException {
        int start = random.nextInt(COUNT);
        for (int i = 0; i < COUNT; i++) {
            int slot = FIRST + (start + i) % COUNT;
            LockFile.ByteLock lock = file.tryLock(slot, false);
            if (lock != null && file.isCurrent()) {
                return new Slots(file, lock, slot, null);
            }
            if (lock != null) {
                lock.release();
                return null;
            }
        }
        return null;
    }

    /**
     * Removes the sockets and files of processes that were killed: no process has their slots now.
     */
    void removeLeftFiles(RunDirectory directory) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.path())) {
            for (Path file : files) {
                int of = RunDirectory.slotOfFile(file);
                if (of == slot) {
                    Files.deleteIfExists(file);
                } else {
                    removeIfFree(of, file);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return; // such a file does no harm
        }
    }

    /** Holds the slot meanwhile, so that no process claims it and creates a new socket. */
    private void removeIfFree(int of, Path left) throws IOException {
        LockFile.ByteLock free = of < FIRST || of >= FIRST + COUNT ? null : file.tryLock(of, false);
        if (free != null) {
            Files.deleteIfExists(left);
            free.release();
        }
    }

    /** Returns whether another process has a slot. */
    boolean isInUse(int other) {
        try {
            return other >= FIRST && other < FIRST + COUNT && file.isLockedElsewhere(other);
        } catch (IOException unknown) {
            return true; // a failure does not mean that the process has exited
        }
    }

    /** Returns the slot. */
    public int number() {
        return slot;
    }

    /** Releases the slot. */
    @Override
    public void close() {
        try {
            if (ofNamespace != null) {
                ofNamespace.close();
            }
            lock.release();
            file.close();
        } catch (IOException e) {
            // The file was removed, and its locks with it.
            return;
        }
    }
}
