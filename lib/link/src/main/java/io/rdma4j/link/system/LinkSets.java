package io.rdma4j.link.system;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LockQuery;
import io.rdma4j.link.TextListener;
import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.link.linux.AddressAges;
import io.rdma4j.link.linux.DirectoryHold;
import io.rdma4j.link.linux.LinuxLockQuery;
import io.rdma4j.link.linux.LinuxTextListener;
import io.rdma4j.link.linux.NetlinkMonitor;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates link sets.
 *
 * <p>The {@code nio} kind works on every system. The {@code linux} kind makes Linux system calls directly. It is
 * faster, and over IPv6 it also receives from Linux's kernel device, but it needs native access for this module ({@code
 * --enable-native-access=io.rdma4j.link}).
 */
public final class LinkSets {
    /** System property that specifies the kind of link set to open: {@code nio} or {@code linux}. */
    public static final String KIND_PROPERTY = "rdma4j.link";

    private LinkSets() {}

    /**
     * Opens the portable link set, which uses NIO.
     *
     * @throws IOException if the system cannot create a selector
     */
    public static LinkSet portable() throws IOException {
        return LinkKind.NIO.open();
    }

    /**
     * Opens a link set of the given kind.
     *
     * @param kind {@code nio} or {@code linux}
     * @throws IllegalArgumentException if there is no such kind
     * @throws IOException if this system, or the options Java was started with, do not allow this kind
     */
    public static LinkSet open(String kind) throws IOException {
        return LinkKind.of(kind).open();
    }

    /**
     * Opens the link set that the property {@value #KIND_PROPERTY} specifies. Without the property the kind is {@code linux} on
     * Linux with native access enabled, otherwise {@code nio}.
     *
     * @throws IllegalArgumentException if the property's value is not a kind
     * @throws IOException if this system, or the options Java was started with, do not allow this kind
     */
    public static LinkSet best() throws IOException {
        String kind = System.getProperty(KIND_PROPERTY);
        if (kind != null) {
            try {
                return open(kind);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("system property " + KIND_PROPERTY + ": " + e.getMessage(), e);
            }
        }
        return (LinkKind.LINUX.isAvailable() ? LinkKind.LINUX : LinkKind.NIO).open();
    }

    /**
     * Returns whether the links of {@link #best} know the traffic class of the frames that they receive, and therefore their
     * congestion marks. Links of the {@code nio} kind do not.
     */
    public static boolean readsTrafficClass() {
        return isLinux();
    }

    private static boolean isLinux() {
        return LinkKind.LINUX.isAvailable()
                && !System.getProperty(KIND_PROPERTY, "linux").equals("nio");
    }

    /**
     * Opens a query of a file's locks, if {@link #best} opens a {@code linux} link set.
     *
     * @return null with {@code nio}
     * @throws IOException if the file cannot be opened
     */
    public static @Nullable LockQuery openLockQuery(Path file) throws IOException {
        return isLinux() ? new LinuxLockQuery(file) : null;
    }

    /**
     * Listens on a Unix-domain socket for processes that read a text, if {@link #best} opens a {@code linux} link set.
     *
     * @param socket a file that does not exist
     * @return null with {@code nio}
     * @throws IOException if the socket cannot be opened
     */
    public static @Nullable TextListener listenForReaders(Path socket) throws IOException {
        return isLinux() ? new LinuxTextListener(socket) : null;
    }

    /**
     * Keeps programs that remove old files away from a directory, if {@link #best} opens a {@code linux} link set.
     *
     * @return an object that does so until it is closed; null with {@code nio}, or if the directory cannot be opened
     */
    public static @Nullable AutoCloseable holdDirectory(Path directory) {
        if (!isLinux()) {
            return null;
        }
        try {
            return new DirectoryHold(directory);
        } catch (IOException unavailable) {
            return null;
        }
    }

    /**
     * Returns the addresses of a network interface in the order in which it got them, IPv4 before IPv6.
     *
     * @param index the index of the interface
     * @return an empty list with {@code nio}, if the system does not report them, and if the interface has no address
     */
    public static List<InetAddress> addressesOldestFirst(int index) {
        if (!isLinux()) {
            return List.of();
        }
        try {
            List<InetAddress> addresses = new ArrayList<>(AddressAges.oldestFirst(index, true));
            addresses.addAll(AddressAges.oldestFirst(index, false));
            return addresses;
        } catch (IOException unavailable) {
            return List.of();
        }
    }

    /**
     * Opens a source of notifications about network interface changes, if {@link #best} opens a {@code linux} link set.
     *
     * @return null with {@code nio}, or if the system cannot create the descriptors
     */
    public static @Nullable InterfaceMonitor openInterfaceMonitor() {
        if (!isLinux()) {
            return null;
        }
        try {
            return new NetlinkMonitor();
        } catch (IOException unavailable) {
            return null;
        }
    }
}
