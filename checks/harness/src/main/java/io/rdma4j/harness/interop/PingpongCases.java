package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;

/** The ping-pongs of libibverbs: server and client with the same options. */
final class PingpongCases {
    /** The TCP port on which the ping-pongs and perftest exchange the numbers of their queue pairs. */
    static final int PORT = 18515;

    private static final String NO_XRC = "rxe has no XRC: ibv_open_xrcd fails with EOPNOTSUPP";
    private static final String PLACE = "^  %s address: *(.*)$";

    private PingpongCases() {}

    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 40);
        for (String kind : List.of("rc", "uc", "ud")) {
            String name = "pingpong/" + kind + "/";
            int size = kind.equals("ud") ? 1024 : 4096;
            rows.add(name + "v4", "100 exchanges", QUICK, exchange(kind, V4, size, 100, ""));
            rows.add(name + "v6", "100 exchanges", exchange(kind, V6, size, 100, ""));
            if (!kind.equals("ud")) {
                rows.add(name + "-m", "path MTU of 512", exchange(kind, V4, 4096, 100, "-m 512"));
            }
            rows.add(name + "-r", "10 receives", exchange(kind, V4, size, 100, "-r 10"));
            rows.add(name + "-l", "service level 1", exchange(kind, V4, size, 100, "-l 1"));
            rows.add(name + "events", "20 exchanges of 333", exchange(kind, V4, 333, 20, "-e"));
        }
        rows.add("pingpong/rc/-N", "the new way to send", exchange("rc", V4, 4096, 100, "-N"));
        for (Family family : List.of(V4, V6)) {
            rows.add(
                    "pingpong/srq/" + family,
                    "300 exchanges",
                    family == V4 ? QUICK : FULL,
                    exchange("srq", family, 4096, 300, ""));
        }
        rows.add("pingpong/srq/events", "50 exchanges of 333", exchange("srq", V4, 333, 50, "-q 5 -e"));
        rows.cannot("pingpong/xsrq", NO_XRC);
    }

    static void defineByExec(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 40);
        for (String kind : List.of("rc", "uc", "srq")) {
            rows.add(
                    "exec/pingpong/" + kind,
                    "100 exchanges",
                    kind.equals("rc") ? QUICK : FULL,
                    exchange(kind, V4, 4096, 100, ""));
        }
        rows.add("exec/pingpong/ud", "100 exchanges", QUICK, exchange("ud", V4, 1024, 100, ""));
        rows.add("exec/pingpong/v6", "20 by events", exchange("rc", V6, 333, 20, "-e"));
        rows.cannot("exec/pingpong/xsrq", NO_XRC);
    }

    /**
     * Both sides have to end with 0, without a complaint, and print the amount of data and each other's queue pairs. A server in C
     * accepts TCP connections over IPv4 only.
     *
     * @param family the family of the GIDs
     */
    static InteropCases.Body exchange(String kind, Family family, int size, int count, String options) {
        int queuePairs = Integer.parseInt(Pair.option(options, "-q", kind.equals("srq") ? "16" : "1"));
        return stage -> {
            String command = "ibv_%s_pingpong %%s -s %d -n %d -c %s ".formatted(kind, size, count, options);
            String server = command.formatted(place(stage, stage.server, family));
            String client = command.formatted(place(stage, stage.client, family));
            Pair pair = Pair.start(stage, server, tcp(stage), client + stage.address(stage.server, V4));
            for (RunningProcess each : pair.both()) {
                each.requireSuccess();
                each.requireLines(1, "^%d bytes in [0-9.]+ seconds = [0-9.]+ Mbit/sec$".formatted(2L * size * count));
                each.requireLines(1, "^%d iters in [0-9.]+ seconds = [0-9.]+ usec/iter$".formatted(count));
                each.requireLines(2 * queuePairs + 2, "");
                InteropStage.requireErr(each, List.of());
            }
            requireAgreement(pair, PLACE);
        };
    }

    /** Returns the options for the device and the GID of a side. Java's tools derive both from an address on the software device. */
    private static String place(InteropStage stage, Side side, Family family)
            throws CaseFailure, IOException, InterruptedException {
        if (side == Side.EXEC || stage.usesKernel(side)) {
            return "-d " + (side == Side.EXEC ? InteropStage.EXEC_DEVICE : stage.device()) + " -g "
                    + stage.gidIndex(side, family);
        }
        return "--device " + stage.address(side, family);
    }

    /** Waits until the server listens on the TCP port. */
    static Pair.Listening tcp(InteropStage stage) {
        return server -> stage.awaitStart(
                () -> server.hasEnded() || tcpSockets(stage).contains(":" + PORT + " "),
                "the server did not listen on TCP port " + PORT);
    }

    private static String tcpSockets(InteropStage stage) throws IOException, InterruptedException {
        return stage.isInGuest(stage.server)
                ? stage.world.guest(stage.server).call("ss -ltnH").output()
                : stage.world.host(stage.server).run("ss", "-ltnH");
    }

    /**
     * Requires that each side prints its own queue pairs as the other one prints its peer's.
     *
     * @param format a regular expression for both lines, with a group
     */
    static void requireAgreement(Pair pair, String format) throws CaseFailure {
        Stage.require(
                places(pair.server(), format, "local").equals(places(pair.client(), format, "remote"))
                        && places(pair.client(), format, "local").equals(places(pair.server(), format, "remote")),
                "the two sides do not agree where they are");
    }

    /** ibv_ud_pingpong prints a colon where the others print a comma. */
    private static List<String> places(RunningProcess process, String format, String which) {
        return Pattern.compile(format.formatted(which), Pattern.MULTILINE)
                .matcher(process.out())
                .results()
                .map(match -> match.group(1).replace(':', ','))
                .toList();
    }
}
