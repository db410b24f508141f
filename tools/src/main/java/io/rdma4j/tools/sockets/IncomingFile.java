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
 * A file that a client sends. It is written under a name of its own beside its place, and takes that place when it is whole:
 * whoever looks there finds the old file or the new one, whatever becomes of the client, the disk or this process. Thread
 * safe as far as {@link #close} may come from another thread.
 */
final class IncomingFile implements AutoCloseable {
    /** What names of unfinished files begin with. */
    static final String PREFIX = ".rcopy-";

    private final Path place;
    private final Path unfinished;
    private final FileChannel channel;
    private boolean ended;

    private IncomingFile(Path place, Path unfinished, FileChannel channel) {
        this.place = place;
        this.unfinished = unfinished;
        this.channel = channel;
    }

    /**
     * Begins a file.
     *
     * @param path its place; a symbolic link is followed, and refused if it leads nowhere
     * @param mode {@code st_mode} with the rights of a new file; one that is there keeps its rights
     * @throws IOException if it cannot be there: {@link FileError} knows why
     */
    static IncomingFile create(Path path, int mode) throws IOException {
        // Whoever made a link may not choose the place of a new file.
        boolean exists = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        Path place = exists ? path.toRealPath() : path.toAbsolutePath();
        if (exists) {
            requireReplaceable(place);
        }
        Path folder = Objects.requireNonNull(place.getParent(), "only the root has none, and it is a folder");
        Path unfinished = folder.resolve(
                PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong()));
        FileChannel channel = FileChannel.open(
                unfinished,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                RcopyFiles.rights(place, mode));
        IncomingFile made = new IncomingFile(place, unfinished, channel);
        try {
            if (exists) {
                made.takeOwnerAndRights();
            }
            return made;
        } catch (IOException e) {
            made.close();
            throw e;
        }
    }

    private static void requireReplaceable(Path place) throws IOException {
        if (Files.isDirectory(place)) {
            throw FileError.EISDIR.exception();
        }
        if (!Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS)) {
            throw FileError.EINVAL.exception(); // opening a pipe would wait for its other end
        }
        if (!Files.isWritable(place)) {
            throw FileError.EACCES.exception();
        }
    }

    /** Those of the file whose place this one takes. */
    private void takeOwnerAndRights() throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(unfinished, PosixFileAttributeView.class);
        if (view == null) {
            return;
        }
        PosixFileAttributes old = Files.readAttributes(place, PosixFileAttributes.class);
        try {
            view.setGroup(old.group());
            view.setOwner(old.owner());
        } catch (IOException notAllowed) {
            // Only root may give files away.
        }
        view.setPermissions(old.permissions());
    }

    /**
     * Begins the contents, and with them whatever was written before.
     *
     * @throws IOException if there is no room for so many bytes
     */
    WritableByteChannel begin(long bytes) throws IOException {
        if (bytes < 0) {
            throw FileError.EFBIG.exception();
        }
        channel.truncate(0);
        if (roomBytes() < bytes) {
            throw FileError.ENOSPC.exception();
        }
        return channel;
    }

    /** What the disk has left; any number of bytes where it does not tell, for writing will. */
    private long roomBytes() {
        try {
            FileStore disk = Files.getFileStore(unfinished);
            return disk.getTotalSpace() > 0 ? disk.getUsableSpace() : Long.MAX_VALUE;
        } catch (IOException untold) {
            return Long.MAX_VALUE;
        }
    }

    /** Gives it its place. */
    synchronized void keep() throws IOException {
        if (!ended) {
            channel.close();
            Files.move(unfinished, place, StandardCopyOption.ATOMIC_MOVE);
            ended = true;
        }
    }

    /** Removes it, unless it was kept. */
    @Override
    public synchronized void close() {
        if (ended) {
            return;
        }
        ended = true;
        try (channel) {
            Files.deleteIfExists(unfinished);
        } catch (IOException gone) {
            // There is nobody to be told: the client has gone, or knows of the first error.
        }
    }
}
