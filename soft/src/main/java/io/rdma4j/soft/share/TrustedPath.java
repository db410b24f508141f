package io.rdma4j.soft.share;

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
 * A directory that nobody but this user and root can exchange for another: it, all above it, and symbolic links on the way
 * belong to one of the two, and others may write to none of the directories unless it is sticky, like {@code /tmp}.
 */
final class TrustedPath {
    private static final String ATTRIBUTES = "unix:uid,gid,mode,isDirectory,isSymbolicLink";
    private static final Path OWN_PROCESS = Path.of("/proc/self");
    private static final Path USERS_OF_NAMESPACE = Path.of("/proc/self/uid_map");
    private static final Path UNMAPPED_USER = Path.of("/proc/sys/kernel/overflowuid");
    private static final long ALL_USERS = 0xffff_ffffL;
    private static final int MOST_LINKS = 40;
    private static final int ROOT = 0;
    private static final int STICKY = 01000;
    private static final int GROUP_WRITES = 020;
    private static final int OTHERS_WRITE = 02;

    /** A directory that another user could exchange; the message says which, and why. */
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

    /** Stands for users of whom a container knows nothing, its host's root among them; null where all are known. */
    private final @Nullable Integer unmappedUser;

    private TrustedPath() throws IOException {
        ownUser = number(Files.getAttribute(OWN_PROCESS, "unix:uid"));
        unmappedUser = unmappedUser();
    }

    /**
     * Checks a directory. Only what exists is looked at; where the system does not tell owners and rights, nothing is.
     *
     * @throws Untrusted if another user could exchange it
     * @throws IOException if it cannot be looked at
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
                at = at.getParent() == null ? at : at.getParent(); // checked on the way here
                continue;
            }
            Map<String, Object> attributes;
            try {
                attributes = attributes(next);
            } catch (NoSuchFileException notYet) {
                return;
            }
            if (Boolean.TRUE.equals(attributes.get("isSymbolicLink"))) {
                requireOwner(next, attributes);
                if (++links > MOST_LINKS) {
                    throw new Untrusted(directory, "too many symbolic links on the way to " + directory);
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
            throw new Untrusted(path, "others may write to " + path);
        }
    }

    /** Whether a group is root's, or that of the user alone, which systems number as the user. */
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

    private static @Nullable Integer unmappedUser() {
        try {
            long known = 0;
            for (String line : Files.readAllLines(USERS_OF_NAMESPACE)) {
                known += Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
            }
            return known >= ALL_USERS
                    ? null
                    : Integer.valueOf(Files.readString(UNMAPPED_USER).strip());
        } catch (IOException | NumberFormatException notTold) {
            return null;
        }
    }
}
