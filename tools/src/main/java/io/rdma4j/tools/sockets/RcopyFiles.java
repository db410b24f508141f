package io.rdma4j.tools.sockets;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

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

    private RcopyFiles() {}

    /** The rights of {@code mode}, for a file that is made at a place; the process's {@code umask} takes its share. */
    static FileAttribute<?>[] rights(Path path, int mode) {
        if (!isPosix(path)) {
            return new FileAttribute<?>[0];
        }
        Set<PosixFilePermission> rights = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < RIGHTS.length; i++) {
            if ((mode & HIGHEST_RIGHT >> i) != 0) {
                rights.add(RIGHTS[i]);
            }
        }
        return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(rights)};
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
}
