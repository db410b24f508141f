package io.rdma4j.link;

import io.rdma4j.link.linux.LinuxLinkSet;
import io.rdma4j.link.linux.NetlinkNews;
import io.rdma4j.link.nio.NioLinkSet;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Makes link sets. {@code nio} works everywhere; {@code linux} makes the system calls itself, which is faster and hears
 * Linux' kernel device on IPv6, but needs native access for this module ({@code
 * --enable-native-access=io.rdma4j.link}).
 */
public final class LinkSets {
    /** System property that names the kind of link set to use: {@code nio} or {@code linux}. */
    public static final String KIND_PROPERTY = "rdma4j.link";

    private LinkSets() {}

    /**
     * Opens the portable link set, on NIO.
     *
     * @throws IOException if the system gives no selector
     */
    public static LinkSet portable() throws IOException {
        return new NioLinkSet();
    }

    /**
     * Opens a link set of one kind.
     *
     * @param kind {@code nio} or {@code linux}
     * @throws IllegalArgumentException if there is no such kind
     * @throws IOException if this system or the way Java was started does not allow it
     */
    public static LinkSet open(String kind) throws IOException {
        return switch (kind) {
            case "nio" -> portable();
            case "linux" -> linux();
            default -> throw new IllegalArgumentException("link kind '" + kind + "': must be nio or linux");
        };
    }

    private static LinkSet linux() throws IOException {
        if (!isLinux()) {
            throw new IOException("link kind 'linux': this system is " + System.getProperty("os.name")
                    + "; use nio, which works everywhere");
        }
        Module module = LinkSets.class.getModule();
        if (!module.isNativeAccessEnabled()) {
            throw new IOException("link kind 'linux': native access is not enabled; start Java with"
                    + " --enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED")
                    + ", or use nio");
        }
        return new LinuxLinkSet();
    }

    private static boolean isLinux() {
        return System.getProperty("os.name", "").equals("Linux");
    }

    /**
     * Opens the link set that {@value #KIND_PROPERTY} names; without it, {@code linux} on Linux where native access is
     * enabled, else {@code nio}.
     *
     * @throws IllegalArgumentException if the property names no kind
     * @throws IOException if this system or the way Java was started does not allow it
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
        return mayCallSystem() ? linux() : portable();
    }

    private static boolean mayCallSystem() {
        return isLinux() && LinkSets.class.getModule().isNativeAccessEnabled();
    }

    /**
     * News of the network interfaces from now on, where {@link #best} opens a {@code linux} link set.
     *
     * @return null where nobody tells: with {@code nio}, and where the system gives no descriptor
     */
    public static @Nullable InterfaceNews interfaceNews() {
        if (!mayCallSystem() || System.getProperty(KIND_PROPERTY, "linux").equals("nio")) {
            return null;
        }
        try {
            return new NetlinkNews();
        } catch (IOException notTold) {
            return null;
        }
    }

    /**
     * A link set whose UDP links have the decorator's capture, trace and faults around them; local channels stay as they
     * are. Bound waits by {@link Link#nextDeadlineNanos}.
     *
     * @param set the links to decorate; closed with the result
     * @param decorator what to put around them; the caller closes it, after the set
     */
    public static LinkSet decorate(LinkSet set, LinkDecorator decorator) {
        return new DecoratedLinkSet(set, decorator);
    }
}
