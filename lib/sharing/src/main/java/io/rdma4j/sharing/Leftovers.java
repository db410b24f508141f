package io.rdma4j.sharing;

import io.rdma4j.link.LockQuery;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Removes the run directories of network namespaces that no longer exist.
 *
 * <p>The directories of all network namespaces of a user are in the same parent directory. A directory is in use while
 * a process holds a slot in it.
 */
final class Leftovers {
    private static final String NAMESPACE = "[0-9]+";

    private Leftovers() {}

    /** Removes the unused directories next to the given one. Directories that cannot be removed are left. */
    static void remove(Path current) {
        Path parent = current.toAbsolutePath().getParent();
        if (parent == null) {
            return;
        }
        try (DirectoryStream<Path> all = Files.newDirectoryStream(parent)) {
            for (Path each : all) {
                if (each.getFileName().toString().matches(NAMESPACE)
                        && !each.getFileName().equals(current.getFileName())
                        && Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                    removeUnused(each);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return; // leftover directories take a little space, but do no harm
        }
    }

    /**
     * Removes a directory if no process has a slot in it. A process that opens the directory meanwhile waits for the end, finds the file
     * of its slot removed, and tries again.
     */
    static void removeUnused(Path directory) {
        Path slots = directory.resolve(Slots.FILE);
        if (SystemLockFile.isOpen(slots)) {
            return; // closing a second handle would release this process' locks
        }
        if (!Files.isRegularFile(slots, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (@Nullable LockQuery query = LinkSets.openLockQuery(slots)) {
            if (query != null && query.isLockedElsewhere(0, 0)) {
                return; // the query does not affect its processes
            }
        } catch (IOException unknown) {
            return;
        }
        try (FileChannel channel = FileChannel.open(slots, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
                FileLock lock = channel.tryLock()) {
            List<Path> files = lock == null ? null : filesOf(directory);
            if (files != null) {
                for (Path file : files) {
                    Files.deleteIfExists(file);
                }
                Files.delete(slots);
                Files.delete(directory);
            }
        } catch (IOException | DirectoryIteratorException | OverlappingFileLockException e) {
            return; // another process removes it, it was never used, or this process uses it by another name
        }
    }

    /**
     * Returns all files except the slots, after removing the parts of network namespaces. Returns null if the directory
     * still contains a subdirectory, which no process of this program creates.
     */
    private static @Nullable List<Path> filesOf(Path directory) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
            for (Path file : all) {
                if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    if (file.getFileName().toString().matches(NAMESPACE)) {
                        removeUnused(file);
                    }
                    if (Files.exists(file)) {
                        return null;
                    }
                } else if (!file.endsWith(Slots.FILE)) {
                    files.add(file);
                }
            }
        }
        return files;
    }
}
