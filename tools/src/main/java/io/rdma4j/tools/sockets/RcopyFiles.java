package io.rdma4j.tools.sockets;

import io.rdma4j.verbs.Errno;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What rcopy does with files. */
final class RcopyFiles {
    /** The rights of {@code st_mode}, from the highest bit on. */
    private static final PosixFilePermission[] RIGHTS = {
        PosixFilePermission.OWNER_READ,
        PosixFilePermission.OWNER_WRITE,
        PosixFilePermission.OWNER_EXECUTE,
        PosixFilePermission.GROUP_READ,
        PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.GROUP_EXECUTE,
        PosixFilePermission.OTHERS_READ,
        PosixFilePermission.OTHERS_WRITE,
        PosixFilePermission.OTHERS_EXECUTE
    };

    private static final int HIGHEST_RIGHT = 0400;
    private static final int REGULAR_FILE = 0100000;
    private static final int USUAL_RIGHTS = 0644;

    /** Linux's number for "is a directory", which RDMA does not know. */
    private static final int EISDIR = 21;

    private RcopyFiles() {}

    /** Makes a file, or empties the one that is there, with the rights of {@code mode} that the process may give. */
    static FileChannel create(Path path, int mode) throws IOException {
        Set<PosixFilePermission> rights = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < RIGHTS.length; i++) {
            if ((mode & HIGHEST_RIGHT >> i) != 0) {
                rights.add(RIGHTS[i]);
            }
        }
        FileAttribute<?>[] attributes = isPosix(path)
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(rights)}
                : new FileAttribute<?>[0];
        return FileChannel.open(
                path,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING),
                attributes);
    }

    private static boolean isPosix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    /** The {@code st_mode} of a file. */
    static int modeOf(Path path) throws IOException {
        if (!isPosix(path)) {
            return REGULAR_FILE | USUAL_RIGHTS;
        }
        Set<PosixFilePermission> rights = Files.getPosixFilePermissions(path);
        int mode = REGULAR_FILE;
        for (int i = 0; i < RIGHTS.length; i++) {
            mode |= rights.contains(RIGHTS[i]) ? HIGHEST_RIGHT >> i : 0;
        }
        return mode;
    }

    /** Linux's number for a failure. */
    static int errorNumber(Exception failure) {
        @Nullable String reason = failure instanceof FileSystemException e ? e.getReason() : null;
        return switch (failure) {
            case NoSuchFileException none -> Errno.ENOENT.number();
            case AccessDeniedException denied -> Errno.EACCES.number();
            case FileSystemException directory when "Is a directory".equals(reason) -> EISDIR;
            case IllegalArgumentException wrong -> Errno.EINVAL.number();
            default -> Errno.EIO.number();
        };
    }
}
