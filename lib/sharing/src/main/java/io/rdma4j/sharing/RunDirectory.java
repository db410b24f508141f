package io.rdma4j.sharing;

import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.link.system.LinkSets;
import io.rdma4j.value.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The directory that the processes of one user share, in one network namespace or in all that specify the same directory.
 *
 * <p>Slots and the sockets for rings and reports belong to the directory, so that processes of several network namespaces can
 * share memory. Addresses and ports belong to a namespace. A directory that the user has specified has a subdirectory for each
 * namespace, with the sockets of address owners and the locks of ports. The default directory belongs to one namespace.
 *
 * <p>Its path is {@code $XDG_RUNTIME_DIR/rdma4j/<network namespace>}, or {@code rdma4j-<user>/<network namespace>} in the
 * directory for temporary files. {@code RDMA4J_RUN_DIR} specifies another one. Only its owner may enter it, since a process that
 * can connect to its sockets can take part in connections. Only its owner and root may replace it ({@link TrustedPath}). Opening
 * the default directory removes the unused directories of other network namespaces next to it ({@link Leftovers}).
 */
public final class RunDirectory {
    /** Environment variable, or system property {@code rdma4j.run.dir}, that specifies the directory. */
    public static final String OVERRIDE = "RDMA4J_RUN_DIR";

    /** The remedy if the file system of the directory has no locks. */
    static final String LOCAL_FILE_SYSTEM = "Use a directory on a local file system, set with " + OVERRIDE;

    /** The suffix of the sockets at which processes accept rings. */
    static final String RING_SUFFIX = ".ring";

    /** The sockets and files whose names end with the slot of their process. */
    private static final Pattern SLOT_FILE =
            Pattern.compile("(?:.*-([0-9]{1,3})\\.ring)|(?:report-([0-9]{1,3})\\.sock)|(?:disconnects-([0-9]{1,3}))");

    /** Greater than the number of any network namespace. */
    private static final long FIRST_PRIVATE = 1_000_000_000_000_000_000L;

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

    private final Path path;

    /** The part of this network namespace: a subdirectory, or the directory itself. */
    private final Path ofNamespace;

    /** The lock files of a virtual host by name; null for a directory of the file system. */
    private final @Nullable Map<String, MemoryLockFile> inMemory;

    private final MappedFiles mappedFiles;

    private RunDirectory(Path path, Path ofNamespace, @Nullable Map<String, MemoryLockFile> inMemory) {
        this.path = path;
        this.ofNamespace = ofNamespace;
        this.inMemory = inMemory;
        mappedFiles = inMemory == null ? new MappedFiles.OfSystem(path) : new MappedFiles.OfVirtualHost();
    }

    /**
     * Creates the directory of a virtual host. Its files exist in memory only, for the stacks that are given this
     * object.
     */
    public static RunDirectory ofVirtualHost(String hostName) {
        Path path = Path.of("virtual", hostName);
        return new RunDirectory(path, path, new ConcurrentHashMap<>());
    }

    /**
     * Opens the default directory, or the one that {@link #OVERRIDE} names, and creates it if it does not exist.
     *
     * @throws SharingException {@link SharingException.Reason#UNTRUSTED} if it cannot be created, or if other users may enter or replace it
     */
    public static RunDirectory open() throws SharingException {
        String override = System.getProperty("rdma4j.run.dir", System.getenv(OVERRIDE));
        if (override != null && !override.isEmpty()) {
            return at(Path.of(override));
        }
        RunDirectory directory = at(defaultPath(), true);
        Leftovers.remove(directory.path());
        return directory;
    }

    /**
     * Creates a directory for stacks that no other process will find. It is next to the default one. If {@link #removeUnused} is
     * not called, it is removed like the directory of a network namespace that no longer exists.
     *
     * @throws SharingException as {@link #open}
     */
    public static RunDirectory createPrivate() throws SharingException {
        String name = String.valueOf(ThreadLocalRandom.current().nextLong(FIRST_PRIVATE, Long.MAX_VALUE));
        return at(defaultPath().resolveSibling(name), true);
    }

    /** Removes the directory if no process uses it. */
    public void removeUnused() {
        if (inMemory == null) {
            Leftovers.removeUnused(path);
        }
    }

    /**
     * Opens the directory at a given path; see {@link #open}.
     *
     * @throws SharingException as {@link #open}
     */
    public static RunDirectory at(Path path) throws SharingException {
        return at(path, false);
    }

    /** Opens a directory. The parent of the default directory must also belong to this user alone. */
    private static RunDirectory at(Path path, boolean hasOwnParent) throws SharingException {
        try {
            Path parent = path.toAbsolutePath().getParent();
            if (parent != null) {
                TrustedPath.require(parent);
                if (!Files.exists(parent)) {
                    create(parent);
                    TrustedPath.require(parent); // another user may have created it first
                }
                if (hasOwnParent) {
                    check(parent);
                }
            }
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                create(path);
            }
            check(path);
            if (hasOwnParent) {
                return new RunDirectory(path, path, null);
            }
            Path ofNamespace = path.resolve(networkNamespace());
            if (!Files.exists(ofNamespace, LinkOption.NOFOLLOW_LINKS)) {
                create(ofNamespace);
            }
            check(ofNamespace);
            Leftovers.remove(ofNamespace);
            return new RunDirectory(path, ofNamespace, null);
        } catch (TrustedPath.Untrusted e) {
            throw failure(path, String.valueOf(e.getMessage()), null);
        } catch (IOException e) {
            throw failure(path, String.valueOf(e.getMessage()), e);
        }
    }

    /** Returns whether its files exist in memory only; see {@link #ofVirtualHost}. */
    public boolean isOfVirtualHost() {
        return inMemory != null;
    }

    /** Returns the path of the directory. */
    public Path path() {
        return path;
    }

    /** Creates the directory again if another process has removed it as unused, or a cleaner as old. */
    void renew() throws SharingException {
        if (inMemory == null && !Files.exists(ofNamespace)) {
            var _ = at(path, !hasPartOfNamespace());
        }
    }

    /** Returns whether this network namespace has a subdirectory. */
    boolean hasPartOfNamespace() {
        return !ofNamespace.equals(path);
    }

    /** Keeps cleaners of old files away until the results are closed. Empty if that is not possible. */
    List<AutoCloseable> hold() {
        List<AutoCloseable> holds = new ArrayList<>();
        for (Path each : directories()) {
            AutoCloseable hold = LinkSets.holdDirectory(each);
            if (hold != null) {
                holds.add(hold);
            }
        }
        return holds;
    }

    private List<Path> directories() {
        if (inMemory != null) {
            return List.of();
        }
        return hasPartOfNamespace() ? List.of(path, ofNamespace) : List.of(path);
    }

    /**
     * Opens a lock file of the directory.
     *
     * @throws IOException if the file cannot be opened
     */
    LockFile openLockFile(String name) throws IOException {
        return openLockFile(path, name);
    }

    /**
     * Opens a lock file in the part of this network namespace.
     *
     * @throws IOException if the file cannot be opened
     */
    LockFile openLockFileOfNamespace(String name) throws IOException {
        return openLockFile(ofNamespace, name);
    }

    private LockFile openLockFile(Path in, String name) throws IOException {
        return inMemory == null
                ? SystemLockFile.open(in.resolve(name))
                : inMemory.computeIfAbsent(name, _ -> new MemoryLockFile());
    }

    /** Returns the files of the directory that processes map into memory. */
    MappedFiles mappedFiles() {
        return mappedFiles;
    }

    /** Returns the path of a file in the part of this network namespace. */
    public Path fileOfNamespace(String name) {
        return ofNamespace.resolve(name);
    }

    /** Returns the path of a file in the directory. */
    public Path file(String name) {
        return path.resolve(name);
    }

    /**
     * Returns the file name of the socket through which processes join the owner of an address. It does not depend on
     * the form of the {@link InetAddress}, which may have the interface as a name, as a number, or not at all if the
     * address does not need it.
     */
    static String socketName(InetAddress address) {
        return addressName(GidAddresses.high(address), GidAddresses.low(address), Interfaces.scope(address)) + ".sock";
    }

    /** Returns the file name of the socket at which the process of a slot accepts rings for an address in GID form. */
    static String ringSocketName(long high, long low, int scope, int slot) {
        return addressName(high, low, scope) + "-" + slot + RING_SUFFIX;
    }

    /** Returns the slot in the name of a file that belongs to one process, or 0 for other files. */
    static int slotOfFile(Path file) {
        Matcher name = SLOT_FILE.matcher(file.getFileName().toString());
        for (int group = 1; name.matches() && group <= name.groupCount(); group++) {
            if (name.group(group) != null) {
                return Integer.parseInt(name.group(group));
            }
        }
        return 0;
    }

    private static String addressName(long high, long low, int scope) {
        String plain = new Gid(high, low).addressText().replace(':', '_');
        return GidAddresses.isLinkLocal(high) ? plain + "-" + scope : plain;
    }

    private static Path defaultPath() {
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        Path base = runtime != null && !runtime.isEmpty() && isSessionDirectory(Path.of(runtime))
                ? Path.of(runtime, "rdma4j")
                : Path.of(System.getProperty("java.io.tmpdir", "/tmp"), "rdma4j-" + userName());
        return base.resolve(networkNamespace());
    }

    /**
     * Returns whether this is the session directory of this user, and not the directory of a user who called {@code su} or {@code
     * sudo}.
     */
    private static boolean isSessionDirectory(Path runtime) {
        try {
            return Files.isWritable(runtime)
                    && (!isPosix(runtime) || Files.getOwner(runtime).equals(currentUser(runtime)));
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the user number if the system provides it, otherwise the name. */
    private static String userName() {
        try {
            return String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9._-]", "_");
        }
    }

    private static String networkNamespace() {
        try {
            String link = Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString();
            return link.replaceAll("[^0-9]", "");
        } catch (IOException | UnsupportedOperationException e) {
            return "default";
        }
    }

    private static void create(Path path) throws IOException {
        if (isPosix(path)) {
            Path parent = path.toAbsolutePath().getParent();
            if (parent != null && !Files.exists(parent)) {
                create(parent);
            }
            try {
                Files.createDirectory(path, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            } catch (java.nio.file.FileAlreadyExistsException e) {
                // Another process created it first; the check finds out whether that was a process of this user.
                return;
            }
        } else {
            Files.createDirectories(path);
        }
    }

    private static boolean isPosix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private static void check(Path path) throws IOException, SharingException {
        if (!isPosix(path)) {
            return;
        }
        PosixFileAttributes attributes =
                Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!attributes.isDirectory()) {
            throw failure(path, "it is not a directory", null);
        }
        if (!attributes.owner().equals(currentUser(path))) { // by number: the name is not available without descriptors
            throw failure(path, "it belongs to user " + attributes.owner().getName(), null);
        }
        Set<PosixFilePermission> others = EnumSet.noneOf(PosixFilePermission.class);
        others.addAll(attributes.permissions());
        others.removeAll(OWNER_ONLY);
        if (!others.isEmpty()) {
            throw failure(path, "users other than its owner may enter it", null);
        }
    }

    private static UserPrincipal currentUser(Path path) throws IOException {
        Path proc = Path.of("/proc/self");
        if (Files.exists(proc)) {
            return Files.getOwner(proc);
        }
        return path.getFileSystem()
                .getUserPrincipalLookupService()
                .lookupPrincipalByName(System.getProperty("user.name", ""));
    }

    private static SharingException failure(Path path, String problem, @Nullable IOException cause) {
        return new SharingException(
                SharingException.Reason.UNTRUSTED,
                "run directory " + path + ": " + problem,
                "Remove the directory, or set another one with " + OVERRIDE
                        + ", which only its owner may enter; the processes of one user share their addresses there",
                cause);
    }
}
