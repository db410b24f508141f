package io.rdma4j.acceptance.hosts;

import io.rdma4j.harness.Host;
import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Two hosts, {@code left} and {@code right}, connected by a cable (a veth pair). Their addresses are 10.86.0.1 and
 * fd00:86::1 on the left, 10.86.0.2 and fd00:86::2 on the right. Damage is applied on arrival at each end, so the two
 * directions are independent.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class TwoHosts implements AutoCloseable {
    /** IPv4 address of the left host. */
    public static final String LEFT = "10.86.0.1";

    /** IPv4 address of the right host. */
    public static final String RIGHT = "10.86.0.2";

    /** Name of the cable's interface on both hosts. */
    public static final String CABLE = "cable";

    private static final Pattern COUNTER = Pattern.compile("counter packets (\\d+)");
    private static final String SIDE_CABLE = "side";

    private final Host left;
    private final Host right;
    private @Nullable Host thirdHost;

    private TwoHosts(Host left, Host right) {
        this.left = left;
        this.right = right;
    }

    /** Creates two hosts and connects them, with an MTU of 1500. */
    public static TwoHosts create() throws IOException, InterruptedException {
        TwoHosts hosts = apart();
        try {
            hosts.newCable();
            return hosts;
        } catch (IOException | InterruptedException e) {
            hosts.close();
            throw e;
        }
    }

    /** Creates the cable with an MTU of 1500. No cable may exist. */
    public void newCable() throws IOException, InterruptedException {
        left.run("ip", "link", "add", CABLE, "type", "veth", "peer", "name", CABLE, "netns", right.name());
        configure();
        segmentsTogether(false);
    }

    /** Removes the cable's interfaces with their addresses. */
    public void removeCable() throws IOException, InterruptedException {
        left.run("ip", "link", "del", CABLE);
    }

    /**
     * Creates two hosts without a cable. The caller gives each an interface {@link #CABLE} and calls {@link
     * #configure}.
     */
    public static TwoHosts apart() throws IOException, InterruptedException {
        Host left = Host.create("left");
        try {
            return new TwoHosts(left, Host.create("right"));
        } catch (IOException | InterruptedException e) {
            left.close();
            throw e;
        }
    }

    /** Assigns addresses to the interfaces and brings them up. */
    public void configure() throws IOException, InterruptedException {
        for (Host host : List.of(left, right)) {
            String last = host == left ? "1" : "2";
            host.run("ip", "addr", "add", "10.86.0." + last + "/24", "dev", CABLE);
            host.run("ip", "-6", "addr", "add", "fd00:86::" + last + "/64", "dev", CABLE, "nodad");
            host.run("ip", "link", "set", CABLE, "up");
        }
    }

    /**
     * Sets whether the segments of one system call cross the cable as one large packet. Loss then drops up to 64 frames
     * together. Initially each frame is dropped independently, as on a wire.
     */
    public void segmentsTogether(boolean together) throws IOException, InterruptedException {
        for (Host host : List.of(left, right)) {
            host.run("ip", "link", "set", CABLE, "gso_max_segs", together ? "65535" : "1");
        }
    }

    /** Returns the left host. */
    public Host left() {
        return left;
    }

    /** Returns the right host. */
    public Host right() {
        return right;
    }

    /**
     * Replaces the damage to packets arriving at {@code host}.
     *
     * <p>Only RoCE packets (UDP destination port 4791) are affected, so other connections of a test are not.
     */
    public void damageArriving(Host host, Damage damage) throws IOException, InterruptedException {
        host.rules("table netdev faults\ndelete table netdev faults\n" + damage.table(CABLE));
    }

    /** Returns the number of packets dropped or corrupted at both ends since the damage was set. */
    public long damaged() throws IOException, InterruptedException {
        long packets = 0;
        for (Host host : List.of(left, right)) {
            Matcher counter = COUNTER.matcher(host.run("nft", "list", "table", "netdev", "faults"));
            while (counter.find()) {
                packets += Long.parseLong(counter.group(1));
            }
        }
        return packets;
    }

    /** Sets the same damage for both directions. */
    public void damage(Damage damage) throws IOException, InterruptedException {
        damageArriving(left, damage);
        damageArriving(right, damage);
    }

    /** Removes all damage. */
    public void heal() throws IOException, InterruptedException {
        damage(Damage.NONE);
    }

    /**
     * Rejects the given number of every 1000 RoCE packets that {@code host} sends: the system calls fail with EPERM. 0
     * for none.
     */
    public void refuseSending(Host host, int perMille) throws IOException, InterruptedException {
        String rule =
                perMille == 0 ? "" : "udp dport 4791 numgen random mod 1000 < %d counter drop".formatted(perMille);
        host.rules("""
            table inet refusals
            delete table inet refusals
            table inet refusals {
              chain leaving {
                type filter hook output priority 0; policy accept;
                %s
              }
            }
            """.formatted(rule));
    }

    /**
     * Creates a third host, connected to the right host by a separate cable. Its addresses may be those of another
     * host: the right host cannot distinguish packets sent from them. The third host receives no responses.
     *
     * @param addresses IPv4 addresses
     */
    public Host thirdHost(String... addresses) throws IOException, InterruptedException {
        Host host = Host.create("stranger");
        thirdHost = host;
        right.run("ip", "link", "add", SIDE_CABLE, "type", "veth", "peer", "name", CABLE, "netns", host.name());
        right.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf." + SIDE_CABLE + ".rp_filter=0");
        right.run("ip", "link", "set", SIDE_CABLE, "up");
        host.run("ip", "link", "set", CABLE, "up");
        for (String address : addresses) {
            host.run("ip", "addr", "add", address + "/32", "dev", CABLE);
        }
        String hardware =
                right.run("cat", "/sys/class/net/" + SIDE_CABLE + "/address").strip();
        host.run("ip", "neigh", "add", RIGHT, "lladdr", hardware, "dev", CABLE);
        host.run("ip", "route", "add", RIGHT + "/32", "dev", CABLE);
        return host;
    }

    /** Brings the cable's interface at {@code host} up or down. The other end loses its carrier while it is down. */
    public void cable(Host host, boolean up) throws IOException, InterruptedException {
        host.run("ip", "link", "set", CABLE, up ? "up" : "down");
    }

    /** Sets the MTU of both ends. */
    public void mtu(int bytes) throws IOException, InterruptedException {
        left.run("ip", "link", "set", CABLE, "mtu", Integer.toString(bytes));
        right.run("ip", "link", "set", CABLE, "mtu", Integer.toString(bytes));
    }

    @Override
    public void close() throws IOException, InterruptedException {
        try {
            if (thirdHost != null) {
                thirdHost.close();
            }
        } finally {
            try {
                right.close();
            } finally {
                left.close();
            }
        }
    }
}
