package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.LO4;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.KnownFault;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** mckey: receivers of a multicast group, and a sender. */
final class MulticastCases {
    private static final String NO_AF_IB = "Linux has addresses of the family AF_IB on InfiniBand only: af-ib/c";
    private static final String SENT = "cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts";

    private MulticastCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 60);
        rows.add("mckey/v4", "2 receivers, 10 each", QUICK, group(V4, 2, "", ""));
        rows.add("mckey/-c-3", "3 members", group(V4, 1, "-c 3", ""));
        rows.add("mckey/-C-50", "50 datagrams", group(V4, 1, "-C 50", "-C 50"));
        rows.add("mckey/-S-1024", "1024 bytes, the MTU", group(V4, 1, "-S 1024", "-S 1024"));
        rows.add("mckey/-o", "sender no member", group(V4, 1, "", "-o"));
        rows.add("mckey/-p", "the port space by its number", group(V4, 1, "-p 0x111", "-p 0x111"));
        rows.cannot(
                "mckey/-p-0x2",
                "the kernel has the port space of IPoIB on InfiniBand only: rdma_bind_addr fails with EINVAL");
        rows.add("mckey/no-b", "by the route", MulticastCases::routed);
        if (rows.hasJavaServer()) {
            rows.add("mckey/mixed", "C and Java receive", stage -> {
                List<Side> receivers = List.of(stage.server, stage.client);
                run(stage, "239.88.0.2", V4, receivers, "", "");
            });
        }
    }

    /** Addresses of the family AF_IB, and what rxe cannot do. */
    static void defineLimits(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 40);
        if (rows.hasJavaServer()) {
            Rows inC = new Rows(cases, new Roles(Side.LINUX, Side.LINUX), 40);
            inC.add("af-ib/c", "C cannot: no such device", QUICK, MulticastCases::hasNoIbAddresses);
        }
        rows.cannot("ucmatose/-f-gid", NO_AF_IB);
        rows.cannot("mckey/-M", NO_AF_IB);
        rows.cannot("mckey/v6", "rxe refuses to join IPv6 groups");
        rows.cannot("mckey/-l", "rxe cannot keep a queue pair from hearing itself");
    }

    static void defineOnHosts(InteropCases cases) {
        Rows near = new Rows(cases, Roles.NEAR, 30);
        for (Family family : List.of(LO4, V4, V6)) {
            near.add(
                    "host/mckey/" + family,
                    "2 receivers, 10 each",
                    family == V4 ? QUICK : FULL,
                    group(family, 2, "", ""));
        }
        Rows far = new Rows(cases, Roles.FAR_SERVER, 30);
        for (Family family : List.of(V4, V6)) {
            far.add(
                    "host/mckey/far-" + family,
                    "2 receivers, 3 members each",
                    family == V4 ? QUICK : FULL,
                    group(family, 2, "-c 3", ""));
        }
        far.add("host/mckey/-o", "sender no member", group(V6, 1, "", "-o"));
    }

    /** Several receivers on the server's side, then a sender on the client's: each receiver gets all messages. */
    static InteropCases.Body group(Family family, int receivers, String options, String senderOptions) {
        String group = family == V6 ? "ff05::8801" : "239.88.0.1";
        return stage -> run(stage, group, family, Collections.nCopies(receivers, stage.server), options, senderOptions);
    }

    /** Without -b, the route to the group selects the interface. */
    private static void routed(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        for (Side side : List.of(stage.server, stage.client)) {
            var _ = stage.shell(side, "ip route replace 239.0.0.0/8 dev " + (stage.isInGuest(side) ? "eth0" : "tap0"));
        }
        run(stage, "239.88.0.3", null, List.of(stage.server), "", "");
    }

    private static void run(
            InteropStage stage,
            String group,
            @Nullable Family family,
            List<Side> receiving,
            String options,
            String senderOptions)
            throws CaseFailure, IOException, InterruptedException {
        List<RunningProcess> receivers = new ArrayList<>();
        for (Side side : receiving) {
            String label = "receiver" + (receivers.size() + 1);
            RunningProcess receiver = Pair.start(stage, label, side, command(stage, side, group, family) + options);
            stage.awaitLine(receiver, "joined dgid");
            receivers.add(receiver);
        }
        Side side = stage.client;
        long before = stage.isC(side) ? sent(stage, side) : 0;
        RunningProcess sender =
                Pair.start(stage, "sender", side, command(stage, side, group, family) + senderOptions + " -s");
        try {
            Pair.requireLines(sender, lines("client", "initiating", group, 1));
            int members = Integer.parseInt(Pair.option(options, "-c", "1"));
            for (RunningProcess receiver : receivers) {
                Pair.requireLines(receiver, lines("server", "receiving", group, members));
            }
        } catch (CaseFailure failed) {
            long messages = Long.parseLong(Pair.option(senderOptions, "-C", "10"));
            long count = stage.isC(side) ? sent(stage, side) - before : messages;
            if (count < messages) {
                // mckey does not wait for its sends, and Linux 6.12 drops those that it has not transmitted when the
                // queue pair is destroyed (docs/linux-and-the-specification.md).
                throw new KnownFault("Linux sent " + count + " of " + messages + " datagrams");
            }
            throw failed;
        }
    }

    private static String command(InteropStage stage, Side side, String group, @Nullable Family family) {
        return "mckey -m " + group + (family == null ? " " : " -b " + stage.address(side, family) + " ");
    }

    /** Returns the number of packets that the device of a guest has sent. */
    private static long sent(InteropStage stage, Side side) throws CaseFailure, IOException, InterruptedException {
        return Long.parseLong(stage.shell(side, SENT).strip());
    }

    private static List<String> lines(String role, String verb, String group, int members) {
        String joined = "mckey: joined dgid: %s%s mlid 0x0 sl 0".formatted(group.contains(":") ? "" : "::ffff:", group);
        List<String> lines = new ArrayList<>(List.of("mckey: starting " + role, "mckey: joining"));
        lines.addAll(Collections.nCopies(members, joined));
        lines.addAll(List.of(verb + " data transfers", "data transfers complete", "test complete", "return status 0"));
        return lines;
    }

    /** The kernel has no addresses of the family AF_IB on its RoCE device: C fails before the first packet. */
    private static void hasNoIbAddresses(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(Side.LINUX, V4);
        requireFailure(
                stage, "ucmatose -f gid -P ib -b ::ffff:" + address, "cmatose: bind address failed: No such device");
        requireFailure(stage, "ucmatose -f gid -s ::ffff:" + address, "cmatose: resolve route failed: No such device");
        requireFailure(stage, "mckey -M ::ffff:239.88.0.1 -b " + address, "mckey: failure joining: Unknown error 524");
    }

    private static void requireFailure(InteropStage stage, String command, String complaint)
            throws CaseFailure, IOException, InterruptedException {
        Pair.start(stage, "tool", Side.LINUX, command).requireStatus(255).requireComplains("^" + complaint + "$");
    }
}
