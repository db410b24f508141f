package io.rdma4j.sharing;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks that only this user and root can replace a directory.
 *
 * <p>The directory, all directories above it and the symbolic links on its path must belong to one of the two. Other
 * users may write to none of the directories unless it is sticky, like {@code /tmp}.
 */
final class TrustedPath {
    private static final String ATTRIBUTES = "unix:uid,gid,mode,isDirectory,isSymbolicLink";
    private static final Path OWN_PROCESS = Path.of("/proc/self");
    private static final Path USERS_OF_NAMESPACE = Path.of("/proc/self/uid_map");
    private static final Path UNMAPPED_USER = Path.of("/proc/sys/kernel/overflowuid");
    private static final long ALL_USERS = 0xffff_ffffL;
    private static final int MAX_LINKS = 40;
    private static final int ROOT = 0;
    private static final int STICKY = 01000;
    private static final int GROUP_WRITES = 020;
    private static final int OTHERS_WRITE = 02;

    /** Thrown for a directory that another user could replace; the message names the path and the reason. */
    static final class Untrusted extends FileSystemException {
        private static final long serialVersionUID = 1;

        Untrusted(Path path, String reason) {
            super(path.toString(), null, reason);
        }

        @Override
        public String getMessage() {
            return String.valueOf(getReason());
        }
    }

    private final int ownUser;

    /**
     * Represents the users that are not mapped into the container, including the host's root; null if all users are
     * mapped.
     */
    private final @Nullable Integer unmappedUser;

    private TrustedPath() throws IOException {
        ownUser = number(Files.getAttribute(OWN_PROCESS, "unix:uid"));
        unmappedUser = unmappedUser();
    }

    /**
     * Checks a directory. Path elements that do not exist are ignored. Nothing is checked if the system does not
     * provide owners and permissions.
     *
     * @throws Untrusted if another user could replace it
     * @throws IOException if its attributes cannot be read
     */
    static void require(Path directory) throws IOException {
        if (directory.getFileSystem().supportedFileAttributeViews().contains("unix") && Files.exists(OWN_PROCESS)) {
            new TrustedPath().walk(directory.toAbsolutePath());
        }
    }

    private void walk(Path directory) throws IOException {
        Path at = directory.getRoot();
        Deque<Path> names = new ArrayDeque<>();
        push(names, directory);
        int links = 0;
        requireDirectory(at, attributes(at));
        while (!names.isEmpty()) {
            Path name = names.pop();
            Path next = at.resolve(name);
            if (name.toString().equals("..")) {
                at = at.getParent() == null ? at : at.getParent(); // already checked
                continue;
            }
            Map<String, Object> attributes;
            try {
                attributes = attributes(next);
            } catch (NoSuchFileException missing) {
                return;
            }
            if (Boolean.TRUE.equals(attributes.get("isSymbolicLink"))) {
                requireOwner(next, attributes);
                if (++links > MAX_LINKS) {
                    throw new Untrusted(directory, "too many symbolic links in " + directory);
                }
                Path target = Files.readSymbolicLink(next);
                push(names, target);
                at = target.isAbsolute() ? target.getRoot() : at;
            } else {
                requireDirectory(next, attributes);
                at = next;
            }
        }
    }

    private static void push(Deque<Path> names, Path path) {
        List<Path> reversed = new ArrayList<>();
        path.forEach(reversed::add);
        Collections.reverse(reversed);
        reversed.stream()
                .filter(name -> !name.toString().isEmpty() && !name.toString().equals("."))
                .forEach(names::push);
    }

    private static Map<String, Object> attributes(Path path) throws IOException {
        return Files.readAttributes(path, ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
    }

    private void requireDirectory(Path path, Map<String, Object> attributes) throws Untrusted {
        if (!Boolean.TRUE.equals(attributes.get("isDirectory"))) {
            throw new Untrusted(path, path + " is not a directory");
        }
        requireOwner(path, attributes);
        int mode = number(attributes.get("mode"));
        boolean mayOthersWrite = (mode & OTHERS_WRITE) != 0 || (mode & GROUP_WRITES) != 0 && !isOwnGroup(attributes);
        if (mayOthersWrite && (mode & STICKY) == 0) {
            throw new Untrusted(path, "other users may write to " + path);
        }
    }

    /**
     * Returns whether a group is root's, or the user's private group, which systems give the same number as the user.
     */
    private boolean isOwnGroup(Map<String, Object> attributes) {
        int group = number(attributes.get("gid"));
        return group == ROOT || group == ownUser;
    }

    private void requireOwner(Path path, Map<String, Object> attributes) throws Untrusted {
        Integer owner = number(attributes.get("uid"));
        if (owner != ROOT && owner != ownUser && !owner.equals(unmappedUser)) {
            throw new Untrusted(path, path + " belongs to user " + owner);
        }
    }

    private static int number(@Nullable Object attribute) {
        return attribute instanceof Integer number ? number : -1;
    }

    private static @Nullable Integer unmappedUser() throws IOException {
        try {
            long known = 0;
            for (String line : Files.readAllLines(USERS_OF_NAMESPACE)) {
                known += Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
            }
            return known >= ALL_USERS
                    ? null
                    : Integer.valueOf(
                            String.join("", Files.readAllLines(UNMAPPED_USER)).strip());
        } catch (NoSuchFileException | NumberFormatException unavailable) {
            return null;
        }
    }
}
