package io.rdma4j.acceptance.hosts;

import io.rdma4j.harness.Host;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two senders and a receiver, each connected to a router. The cable from the router to the receiver has
 * {@value #LINK_MBIT} Mbit/s. The router can mark the packets of capable senders (ECN) above a somewhat lower rate, so
 * that its buffer stays nearly empty.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class BottleneckHosts implements AutoCloseable {
    /** Speed of the cable to the receiver, with Ethernet headers. */
    public static final int LINK_MBIT = 200;

    /** The addresses of the senders. */
    public static final List<String> SENDERS = List.of("10.88.1.1", "10.88.2.1");

    /** The address of the receiver. */
    public static final String RECEIVER = "10.88.3.1";

    /** Packets of 1 KiB of payload above this rate per second are marked: 96 % of the link. */
    private static final int MARKED_PACKETS = 22_200;

    private static final Pattern PACKETS = Pattern.compile("packets (\\d+)");
    private static final Pattern DROPPED = Pattern.compile("dropped (\\d+)");

    private final List<Host> hosts;
    private final Host router;

    private BottleneckHosts(List<Host> hosts, Host router) {
        this.hosts = hosts;
        this.router = router;
    }

    /** Creates the hosts and their cables. The router marks nothing yet. */
    public static BottleneckHosts create() throws IOException, InterruptedException {
        List<Host> created = new ArrayList<>();
        try {
            for (String name : List.of("sender1", "sender2", "receiver", "router")) {
                created.add(Host.create(name));
            }
            BottleneckHosts all = new BottleneckHosts(created.subList(0, 3), created.get(3));
            all.configure();
            return all;
        } catch (IOException | InterruptedException e) {
            for (Host host : created) {
                host.close();
            }
            throw e;
        }
    }

    private void configure() throws IOException, InterruptedException {
        router.run("sysctl", "-qw", "net.ipv4.ip_forward=1");
        for (int i = 0; i < hosts.size(); i++) {
            Host host = hosts.get(i);
            String cable = "cable" + i;
            String network = "10.88." + (i + 1);
            router.run("ip", "link", "add", cable, "type", "veth", "peer", "name", "cable", "netns", host.name());
            host.run("ip", "addr", "add", network + ".1/24", "dev", "cable");
            host.run("ip", "link", "set", "cable", "gso_max_segs", "1");
            host.run("ip", "link", "set", "cable", "up");
            host.run("ip", "route", "add", "default", "via", network + ".254", "dev", "cable", "onlink");
            router.run("ip", "addr", "add", network + ".254/24", "dev", cable);
            router.run("ip", "link", "set", cable, "up");
        }
        router.run(
                "tc",
                "qdisc",
                "add",
                "dev",
                "cable2",
                "root",
                "tbf",
                "rate",
                LINK_MBIT + "mbit",
                "burst",
                "10kb",
                "limit",
                "600kb");
    }

    /** Sets whether the router marks the packets that exceed the rate. */
    public void marks(boolean isMarking) throws IOException, InterruptedException {
        String rule = isMarking
                ? "oifname \"cable2\" ip ecn != not-ect limit rate over " + MARKED_PACKETS
                        + "/second burst 30 packets ip ecn set ce counter"
                : "";
        router.rules("""
            table ip marking
            delete table ip marking
            table ip marking {
              chain forwarded {
                type filter hook forward priority 0; policy accept;
                %s
              }
            }
            """.formatted(rule));
    }

    /** Returns a sender. */
    public Host sender(int index) {
        return hosts.get(index);
    }

    /** Returns the receiver. */
    public Host receiver() {
        return hosts.getLast();
    }

    /** Returns the number of packets that the router has marked since {@link #marks}. */
    public long marked() throws IOException, InterruptedException {
        return first(PACKETS, router.run("nft", "list", "table", "ip", "marking"));
    }

    /** Returns the number of packets that the router has dropped because its buffer was full. */
    public long dropped() throws IOException, InterruptedException {
        return first(DROPPED, router.run("tc", "-s", "qdisc", "show", "dev", "cable2"));
    }

    private static long first(Pattern number, String text) {
        Matcher found = number.matcher(text);
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        try {
            router.close();
        } finally {
            for (Host host : hosts) {
                host.close();
            }
        }
    }
}
