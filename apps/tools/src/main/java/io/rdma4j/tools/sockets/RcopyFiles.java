package io.rdma4j.tools.sockets;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** Converts file permissions for rcopy. */
final class RcopyFiles {
    /** The permissions in {@code st_mode}, from the highest bit down. */
    private static final PosixFilePermission[] PERMISSIONS = {
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

    private static final int HIGHEST_PERMISSION = 0400;
    private static final int REGULAR_FILE = 0100000;
    private static final int DEFAULT_PERMISSIONS = 0644;

    private RcopyFiles() {}

    /** Returns the permissions of {@code mode} for creating a file at the path. The process's {@code umask} applies. */
    static FileAttribute<?>[] permissions(Path path, int mode) {
        if (!isPosix(path)) {
            return new FileAttribute<?>[0];
        }
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < PERMISSIONS.length; i++) {
            if ((mode & HIGHEST_PERMISSION >> i) != 0) {
                permissions.add(PERMISSIONS[i]);
            }
        }
        return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)};
    }

    private static boolean isPosix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    /** Returns the {@code st_mode} of a file. */
    static int modeOf(Path path) throws IOException {
        if (!isPosix(path)) {
            return REGULAR_FILE | DEFAULT_PERMISSIONS;
        }
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(path);
        int mode = REGULAR_FILE;
        for (int i = 0; i < PERMISSIONS.length; i++) {
            mode |= permissions.contains(PERMISSIONS[i]) ? HIGHEST_PERMISSION >> i : 0;
        }
        return mode;
    }
}
