package io.rdma4j.link.internal;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The file of a listening Unix-domain socket. A stale file is removed before the bind, and the file is removed when the
 * listener closes.
 */
public final class SocketFile {
    private final Path path;
    private final @Nullable Object fileKey;

    /** Distinguishes the file from another one that has reused the number of its inode. */
    private final FileTime created;

    private SocketFile(Path path, BasicFileAttributes attributes) {
        this.path = path;
        fileKey = attributes.fileKey();
        created = attributes.lastModifiedTime();
    }

    /**
     * Prepares {@code path} for a bind by removing a socket that no process listens on.
     *
     * @throws BindException if another process listens on it, or the file is not a socket
     * @throws IOException if the file cannot be read or removed
     */
    public static void prepare(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!attributes(path).isOther()) {
            throw new BindException("listen on " + path + ": the file exists and is not a socket; remove it");
        }
        if (isListening(path)) {
            throw new BindException("listen on " + path + ": another process listens there");
        }
        Files.deleteIfExists(path);
    }

    private static boolean isListening(Path path) throws IOException {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // Non-blocking, since a listener whose queue is full is alive too.
            probe.configureBlocking(false);
            var _ = probe.connect(UnixDomainSocketAddress.of(path));
            return true;
        } catch (ConnectException e) {
            return false;
        }
    }

    /**
     * Takes ownership of the file that a bind has just created. Its permissions are limited to this user if the file
     * system supports that.
     */
    public static SocketFile bound(Path path) throws IOException {
        if (path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
        }
        return new SocketFile(path, attributes(path));
    }

    private static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    /** Removes the file, unless another process has replaced it. */
    public void remove() {
        try {
            BasicFileAttributes current = attributes(path);
            if (Objects.equals(fileKey, current.fileKey()) && created.equals(current.lastModifiedTime())) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            // A removed file needs no action, and one that remains is replaced by the next listener.
            return;
        }
    }
}
