package io.rdma4j.acceptance.hosts;

import io.rdma4j.harness.Host;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two hosts and a router between them, with one cable to the left host and two to the right one. The router chooses
 * between the two by the addresses and UDP ports of a packet, like routers in data centres. It counts the packets that
 * it forwards to the right.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class RoutedHosts implements AutoCloseable {
    /** IPv4 address of the left host. */
    public static final String LEFT = "10.86.1.1";

    /** IPv4 address of the right host. */
    public static final String RIGHT = "10.86.9.1";

    /** IPv6 address of the left host. */
    public static final String LEFT_IPV6 = "fd00:86:1::1";

    /** IPv6 address of the right host. */
    public static final String RIGHT_IPV6 = "fd00:86:9::1";

    private static final List<String> PATHS = List.of("path0", "path1");
    private static final Pattern ELEMENTS = Pattern.compile("elements = \\{([^}]*)}");

    private final Host left;
    private final Host router;
    private final Host right;

    private RoutedHosts(Host left, Host router, Host right) {
        this.left = left;
        this.router = router;
        this.right = right;
    }

    /** Creates the hosts and their cables. */
    public static RoutedHosts create() throws IOException, InterruptedException {
        List<Host> created = new ArrayList<>();
        try {
            for (String name : List.of("left", "router", "right")) {
                created.add(Host.create(name));
            }
            RoutedHosts hosts = new RoutedHosts(created.get(0), created.get(1), created.get(2));
            hosts.configure();
            return hosts;
        } catch (IOException | InterruptedException e) {
            for (Host host : created) {
                host.close();
            }
            throw e;
        }
    }

    private void configure() throws IOException, InterruptedException {
        for (String setting : List.of(
                "net.ipv4.ip_forward=1",
                "net.ipv6.conf.all.forwarding=1",
                "net.ipv4.fib_multipath_hash_policy=1",
                "net.ipv6.fib_multipath_hash_policy=1")) {
            router.run("sysctl", "-qw", setting);
        }
        cable(left, "cable", "10.86.1", "fd00:86:1");
        left.run("ip", "route", "add", "default", "via", "10.86.1.254");
        left.run("ip", "-6", "route", "add", "default", "via", "fd00:86:1::fe");
        addRight();
        router.rules("""
            table inet flows {
              set forward { type inet_service; flags dynamic; size 1024; }
              set back { type inet_service; flags dynamic; size 1024; }
              set hops { type inet_service; flags dynamic; size 1024; }
              set labels { typeof ip6 flowlabel; flags dynamic; size 1024; }
              counter path0 { }
              counter path1 { }
              chain forwarded {
                type filter hook forward priority 0; policy accept;
                udp dport 4791 oifname "path*" add @forward { udp sport }
                udp dport 4791 oifname "router" add @back { udp sport }
                udp dport 4791 oifname "path0" counter name path0
                udp dport 4791 oifname "path1" counter name path1
                udp dport 4791 oifname "path*" ip ttl 19 add @hops { udp sport }
                udp dport 4791 oifname "path*" ip6 hoplimit 19 add @hops { udp sport }
                udp dport 4791 oifname "path*" ip6 flowlabel != 0 add @labels { ip6 flowlabel }
              }
            }
            """);
    }

    private void addRight() throws IOException, InterruptedException {
        StringBuilder ways = new StringBuilder();
        for (String path : PATHS) {
            String number = path.substring(path.length() - 1);
            right.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0");
            router.run("ip", "link", "add", path, "type", "veth", "peer", "name", path, "netns", right.name());
            router.run("ip", "addr", "add", "10.87." + number + ".1/24", "dev", path);
            router.run("ip", "-6", "addr", "add", "fd00:87:" + number + "::1/64", "dev", path, "nodad");
            right.run("ip", "addr", "add", "10.87." + number + ".2/24", "dev", path);
            right.run("ip", "-6", "addr", "add", "fd00:87:" + number + "::2/64", "dev", path, "nodad");
            router.run("ip", "link", "set", path, "up");
            right.run("ip", "link", "set", path, "up");
            ways.append(" nexthop via 10.87.").append(number).append(".2");
        }
        right.run("ip", "addr", "add", RIGHT + "/32", "dev", PATHS.getFirst());
        right.run("ip", "-6", "addr", "add", RIGHT_IPV6 + "/128", "dev", PATHS.getFirst(), "nodad");
        right.run("ip", "route", "add", "10.86.1.0/24", "via", "10.87.0.1");
        right.run("ip", "-6", "route", "add", "fd00:86:1::/64", "via", "fd00:87:0::1");
        List<String> route = new ArrayList<>(List.of("ip", "route", "add", RIGHT + "/32"));
        route.addAll(List.of(ways.toString().strip().split(" ", -1)));
        router.run(route.toArray(String[]::new));
        router.run("ip", "-6", "route", "add", RIGHT_IPV6 + "/128", "via", "fd00:87:1::2");
    }

    /** Connects the left host to the router. */
    private void cable(Host host, String name, String ipv4, String ipv6) throws IOException, InterruptedException {
        router.run("ip", "link", "add", "router", "type", "veth", "peer", "name", name, "netns", host.name());
        host.run("ip", "addr", "add", ipv4 + ".1/24", "dev", name);
        host.run("ip", "-6", "addr", "add", ipv6 + "::1/64", "dev", name, "nodad");
        host.run("ip", "link", "set", name, "up");
        router.run("ip", "addr", "add", ipv4 + ".254/24", "dev", "router");
        router.run("ip", "-6", "addr", "add", ipv6 + "::fe/64", "dev", "router", "nodad");
        router.run("ip", "link", "set", "router", "up");
    }

    /** Returns the left host. */
    public Host left() {
        return left;
    }

    /** Returns the right host. */
    public Host right() {
        return right;
    }

    /** Returns the UDP source ports of the RoCE packets that went to the right host, in ascending order. */
    public List<Integer> sourcePortsToRight() throws IOException, InterruptedException {
        return elements("forward");
    }

    /** Returns the UDP source ports of the RoCE packets that went to the left host, in ascending order. */
    public List<Integer> sourcePortsToLeft() throws IOException, InterruptedException {
        return elements("back");
    }

    /** Returns the UDP source ports of the RoCE packets to the right host that had 19 hops left behind the router. */
    public List<Integer> sourcePortsWithNineteenHops() throws IOException, InterruptedException {
        return elements("hops");
    }

    /** Returns the IPv6 flow labels of the RoCE packets that went to the right host. */
    public List<Integer> flowLabels() throws IOException, InterruptedException {
        return elements("labels");
    }

    /** Returns the number of RoCE packets that each of the two paths carried to the right host. */
    public List<Long> packetsOfPaths() throws IOException, InterruptedException {
        List<Long> packets = new ArrayList<>();
        for (String path : PATHS) {
            Matcher counter = Pattern.compile("packets (\\d+)")
                    .matcher(router.run("nft", "list", "counter", "inet", "flows", path));
            packets.add(counter.find() ? Long.parseLong(counter.group(1)) : 0);
        }
        return packets;
    }

    private List<Integer> elements(String set) throws IOException, InterruptedException {
        Matcher found = ELEMENTS.matcher(router.run("nft", "-n", "list", "set", "inet", "flows", set));
        if (!found.find()) {
            return List.of();
        }
        return List.copyOf(new TreeSet<>(Arrays.stream(found.group(1).strip().split("[,\\s]+", -1))
                .map(Integer::decode)
                .toList()));
    }

    @Override
    public void close() throws IOException, InterruptedException {
        try {
            left.close();
        } finally {
            try {
                router.close();
            } finally {
                right.close();
            }
        }
    }
}
