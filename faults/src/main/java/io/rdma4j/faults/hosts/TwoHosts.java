package io.rdma4j.faults.hosts;

import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Two hosts, {@code left} and {@code right}, joined by a cable (a veth pair): 10.86.0.1 and fd00:86::1 on the left,
 * 10.86.0.2 and fd00:86::2 on the right. Faults are set on arrival at each end, so that the two directions are
 * independent.
 */
@SuppressWarnings("try") // closing waits for an end, which may be interrupted
public final class TwoHosts implements AutoCloseable {
    /** IPv4 address of the left host. */
    public static final String LEFT = "10.86.0.1";

    /** IPv4 address of the right host. */
    public static final String RIGHT = "10.86.0.2";

    /** Name of the interface to the cable, on either host. */
    public static final String CABLE = "cable";

    private static final Pattern COUNTER = Pattern.compile("counter packets (\\d+)");
    private static final String SIDE_CABLE = "side";

    private final Host left;
    private final Host right;
    private @Nullable Host stranger;

    private TwoHosts(Host left, Host right) {
        this.left = left;
        this.right = right;
    }

    /** Makes them and joins them, with an MTU of 1500. */
    public static TwoHosts make() throws IOException, InterruptedException {
        TwoHosts hosts = apart();
        try {
            hosts.newCable();
            return hosts;
        } catch (IOException | InterruptedException e) {
            hosts.close();
            throw e;
        }
    }

    /** Makes a cable with an MTU of 1500; there must be none. */
    public void newCable() throws IOException, InterruptedException {
        left.run("ip", "link", "add", CABLE, "type", "veth", "peer", "name", CABLE, "netns", right.name());
        configure();
        segmentsTogether(false);
    }

    /** Removes the interfaces at both ends of the cable, and their addresses with them. */
    public void removeCable() throws IOException, InterruptedException {
        left.run("ip", "link", "del", CABLE);
    }

    /** Makes them without a cable: whoever gives each an interface {@link #CABLE} has it {@linkplain #configure configured}. */
    public static TwoHosts apart() throws IOException, InterruptedException {
        Host left = Host.make("left");
        try {
            return new TwoHosts(left, Host.make("right"));
        } catch (IOException | InterruptedException e) {
            left.close();
            throw e;
        }
    }

    /** Gives the interfaces their addresses and brings them up. */
    public void configure() throws IOException, InterruptedException {
        for (Host host : List.of(left, right)) {
            String last = host == left ? "1" : "2";
            host.run("ip", "addr", "add", "10.86.0." + last + "/24", "dev", CABLE);
            host.run("ip", "-6", "addr", "add", "fd00:86::" + last + "/64", "dev", CABLE, "nodad");
            host.run("ip", "link", "set", CABLE, "up");
        }
    }

    /**
     * Whether what is sent by one segmented call crosses the cable as one large packet, so that loss takes all of it: bursts
     * of up to 64 frames. At first it does not: each frame is lost or not by itself, as on a wire.
     */
    public void segmentsTogether(boolean together) throws IOException, InterruptedException {
        for (Host host : List.of(left, right)) {
            host.run("ip", "link", "set", CABLE, "gso_max_segs", together ? "65535" : "1");
        }
    }

    /** One host. */
    public Host left() {
        return left;
    }

    /** The other. */
    public Host right() {
        return right;
    }

    /**
     * Damages what arrives at {@code host} from now on, instead of what was damaged before.
     *
     * <p>Only RoCE (UDP port 4791 as destination) is touched, so that a test's own control connection lives.
     */
    public void damageArriving(Host host, Damage damage) throws IOException, InterruptedException {
        host.rules("table netdev faults\ndelete table netdev faults\n" + damage.table(CABLE));
    }

    /** How many packets have been lost or changed since the damage was set, at both ends. */
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

    /** Damages both directions alike. */
    public void damage(Damage damage) throws IOException, InterruptedException {
        damageArriving(left, damage);
        damageArriving(right, damage);
    }

    /** Ends all damage. */
    public void heal() throws IOException, InterruptedException {
        damage(Damage.NONE);
    }

    /** Refuses so many of 1000 RoCE packets that {@code host} wants to send: its system calls fail with EPERM. 0 for none. */
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
     * Makes a third host, joined by a cable of its own to the right one, with addresses that may be another's: what it sends
     * from them arrives on the right host as if it were that other one's. No answer comes to it.
     *
     * @param addresses IPv4 addresses
     */
    public Host stranger(String... addresses) throws IOException, InterruptedException {
        Host host = Host.make("stranger");
        stranger = host;
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

    /** Takes the cable's end at {@code host} down or up, which takes the carrier from the other end too. */
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
            if (stranger != null) {
                stranger.close();
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
