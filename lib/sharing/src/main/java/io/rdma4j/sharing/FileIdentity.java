package io.rdma4j.sharing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/**
 * The properties that distinguish the socket file of a process from the file of another process at the same path. The number of
 * an inode can be reused immediately, so the identity includes the time.
 */
record FileIdentity(@Nullable Object key, FileTime modified) {
    /** Returns the identity of the file at a path, or null if there is none. */
    static @Nullable FileIdentity of(Path path) {
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return new FileIdentity(attributes.fileKey(), attributes.lastModifiedTime());
        } catch (IOException e) {
            return null; // removed, or in a directory that was removed
        }
    }
}
