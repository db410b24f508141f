package io.rdma4j.tools.sockets;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A file that a client sends. It is written to a temporary file in the directory of the target, and replaces the target
 * atomically when it is complete. Readers find the old file or the new one, even if the client, the disk or this
 * process fails. Not thread safe, except that any thread may call {@link #close}.
 */
final class IncomingFile implements AutoCloseable {
    /** The prefix of the names of temporary files. */
    static final String PREFIX = ".rcopy-";

    private final Path target;
    private final Path temporary;
    private final FileChannel channel;
    private boolean closed;

    private IncomingFile(Path target, Path temporary, FileChannel channel) {
        this.target = target;
        this.temporary = temporary;
        this.channel = channel;
    }

    /**
     * Creates the temporary file.
     *
     * @param path the target; a symbolic link is followed, and rejected if it is dangling
     * @param mode the {@code st_mode} with the permissions of a new file; an existing target keeps its permissions
     * @throws IOException if the file cannot be created; {@link FileError} maps it to an error number
     */
    static IncomingFile create(Path path, int mode) throws IOException {
        // A dangling link is not followed: its owner could choose where a new file is created.
        boolean exists = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        Path target = exists ? path.toRealPath() : path.toAbsolutePath();
        if (exists) {
            requireReplaceable(target);
        }
        Path directory =
                Objects.requireNonNull(target.getParent(), "only the root has no parent, and it is a directory");
        Path temporary = directory.resolve(
                PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong()));
        FileChannel channel = FileChannel.open(
                temporary,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                RcopyFiles.permissions(target, mode));
        IncomingFile incoming = new IncomingFile(target, temporary, channel);
        try {
            if (exists) {
                incoming.copyOwnerAndPermissions();
            }
            return incoming;
        } catch (IOException e) {
            incoming.close();
            throw e;
        }
    }

    private static void requireReplaceable(Path target) throws IOException {
        if (Files.isDirectory(target)) {
            throw FileError.EISDIR.exception();
        }
        if (!Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
            throw FileError.EINVAL.exception(); // opening a pipe would block until its other end is opened
        }
        if (!Files.isWritable(target)) {
            throw FileError.EACCES.exception();
        }
    }

    /** Copies owner, group and permissions of the target to the temporary file. */
    private void copyOwnerAndPermissions() throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(temporary, PosixFileAttributeView.class);
        if (view == null) {
            return;
        }
        PosixFileAttributes old = Files.readAttributes(target, PosixFileAttributes.class);
        try {
            view.setGroup(old.group());
            view.setOwner(old.owner());
        } catch (IOException notAllowed) {
            // Only root may change the owner.
        }
        view.setPermissions(old.permissions());
    }

    /**
     * Starts to write the contents, and discards any that were written before.
     *
     * @throws IOException if the disk has no space for the given number of bytes
     */
    WritableByteChannel begin(long bytes) throws IOException {
        if (bytes < 0) {
            throw FileError.EFBIG.exception();
        }
        channel.truncate(0);
        if (usableBytes() < bytes) {
            throw FileError.ENOSPC.exception();
        }
        return channel;
    }

    /**
     * Returns the usable space of the disk, or {@link Long#MAX_VALUE} if it is unknown. In that case a write fails if
     * the disk is full.
     */
    private long usableBytes() {
        try {
            FileStore disk = Files.getFileStore(temporary);
            return disk.getTotalSpace() > 0 ? disk.getUsableSpace() : Long.MAX_VALUE;
        } catch (IOException unknown) {
            return Long.MAX_VALUE;
        }
    }

    /**
     * Replaces the target with the temporary file.
     *
     * @throws IOException if this fails, or if the temporary file has been deleted
     */
    synchronized void commit() throws IOException {
        if (closed) {
            throw FileError.EIO.exception();
        }
        channel.close();
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
        closed = true;
    }

    /** Deletes the temporary file, unless it has replaced the target. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (channel) {
            Files.deleteIfExists(temporary);
        } catch (IOException ignored) {
            // Not reported: the client has disconnected, or was notified of an earlier error.
        }
    }
}
