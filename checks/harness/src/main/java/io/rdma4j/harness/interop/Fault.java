package io.rdma4j.harness.interop;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Guest;
import io.rdma4j.harness.Host;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Damage to the RoCE packets between this machine and the guest, in both directions. Other packets are left alone. */
sealed interface Fault {
    /** Puts the fault in place. */
    void begin(Host host, Guest guest) throws CaseFailure, IOException, InterruptedException;

    /** Takes the fault away, and returns the number of packets that it has dropped. */
    long end(Host host, Guest guest) throws IOException, InterruptedException;

    /** Returns whether it drops packets. */
    boolean drops();

    /** Returns a fault by netem in the guest, such as {@code loss 5%}. */
    static Fault netem(String arguments) {
        return new Netem(arguments);
    }

    /** Returns the loss of packets on the tap by nft, which also works if the kernel has no netem. */
    static Fault loss(int perMille) {
        return new Loss(perMille);
    }

    /**
     * Outgoing packets pass netem on a band of a prio qdisc; incoming ones are redirected to ifb0, which has a netem of its own.
     *
     * @param arguments the arguments of netem
     */
    record Netem(String arguments) implements Fault {
        private static final String BEGIN = """
                set -e
                ip link set ifb0 up
                for device in eth0 ifb0; do
                    tc qdisc add dev $device root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
                    tc qdisc add dev $device parent 1:4 handle 4: netem limit 10000 ARGUMENTS
                    tc filter add dev $device parent 1: protocol ip prio 1 u32 \\
                        match ip protocol 17 0xff match ip dport 4791 0xffff flowid 1:4
                    tc filter add dev $device parent 1: protocol ipv6 prio 2 u32 \\
                        match ip6 protocol 17 0xff match ip6 dport 4791 0xffff flowid 1:4
                done
                tc qdisc add dev eth0 handle ffff: ingress
                tc filter add dev eth0 parent ffff: protocol all prio 1 u32 match u32 0 0 action mirred egress redirect dev ifb0
                """;

        private static final String END = """
                { tc -s qdisc show dev eth0; tc -s qdisc show dev ifb0; } | awk '
                    /^qdisc/ { netem = ($2 == "netem") }
                    netem && /dropped/ { sub(/.*dropped /, ""); n += $1 }
                    END { print n + 0 }'
                tc qdisc del dev eth0 root
                tc qdisc del dev eth0 ingress
                tc qdisc del dev ifb0 root
                ip link set ifb0 down
                """;

        @Override
        public void begin(Host host, Guest guest) throws CaseFailure, IOException, InterruptedException {
            guest.require("netem " + arguments + " cannot be put in place", BEGIN.replace("ARGUMENTS", arguments));
        }

        @Override
        public long end(Host host, Guest guest) throws IOException, InterruptedException {
            Matcher count = Pattern.compile("\\d+").matcher(guest.call(END).output());
            return count.find() ? Long.parseLong(count.group()) : 0;
        }

        @Override
        public boolean drops() {
            return arguments.contains("loss");
        }
    }

    /**
     * Loss on the tap.
     *
     * @param perMille the lost packets of a thousand
     */
    record Loss(int perMille) implements Fault {
        private static final String RULES = """
                table netdev interop {
                    chain from_guest {
                        type filter hook ingress device tap0 priority 0;
                        udp dport 4791 numgen random mod 1000 < PER_MILLE counter drop
                    }
                    chain to_guest {
                        type filter hook egress device tap0 priority 0;
                        udp dport 4791 numgen random mod 1000 < PER_MILLE counter drop
                    }
                }
                """;
        private static final Pattern COUNTER = Pattern.compile("counter packets (\\d+)");

        @Override
        public void begin(Host host, Guest guest) throws IOException, InterruptedException {
            host.rules(RULES.replace("PER_MILLE", Integer.toString(perMille)));
        }

        @Override
        public long end(Host host, Guest guest) throws IOException, InterruptedException {
            String table = host.run("nft", "list", "table", "netdev", "interop");
            host.run("nft", "delete", "table", "netdev", "interop");
            return COUNTER.matcher(table)
                    .results()
                    .mapToLong(match -> Long.parseLong(match.group(1)))
                    .sum();
        }

        @Override
        public boolean drops() {
            return true;
        }
    }
}
