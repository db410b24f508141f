package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.LONG;
import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Host;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Java against Java between processes and hosts, without a guest, by rping and by the program Peer. */
final class HostCases {
    /** Two idle processes must use less than 1 % of a core. */
    private static final double MOST_IDLE_PERCENT = 1;

    private static final int IDLE_SECONDS = 6;

    private HostCases() {}

    static void define(InteropCases cases) {
        for (Family family : List.of(Family.LO4, Family.V4, Family.LO6, Family.LL, Family.TWIN)) {
            boolean isLoopback = family == Family.LO4 || family == Family.LO6;
            String name = "host/rping/" + family;
            cases.add(name + "/64", Roles.NEAR, "10 pings", FULL, 30, Rping.pings(family, 64, 10));
            InteropCases.Body large = Rping.pings(family, 65535, 10);
            cases.add(name + "/65535", Roles.NEAR, "10 pings", isLoopback ? FULL : QUICK, 30, large);
        }
        for (int size : List.of(23, 1000, 4096)) {
            cases.add("host/rping/lo4/" + size, Roles.NEAR, "10 pings", FULL, 30, Rping.pings(Family.LO4, size, 10));
        }
        for (Family family : List.of(Family.V4, Family.V6, Family.LL, Family.TWIN)) {
            InteropCases.Body large = Rping.pings(family, 65535, 10);
            String name = "host/rping/far-" + family + "/65535";
            cases.add(name, Roles.FAR_SERVER, "10 pings", family == Family.V4 ? QUICK : FULL, 30, large);
        }
        cases.add("host/rping/twin-ports", Roles.NEAR, "10 pings", QUICK, 30, HostCases::samePortOnTwoLinks);
        cases.add("host/rping/option-q", Roles.NEAR, "3 pings", FULL, 30, Rping.pings(Family.LO4, 64, 3, "-q"));
        for (Family family : List.of(Family.LO4, Family.TWIN)) {
            boolean isTwin = family == Family.TWIN;
            InteropCases.Body clients = ConnectionCases.persistent(family, 8, 20, Rping.SIZE);
            String name = isTwin ? "host/persistent-8/twin" : "host/persistent-8";
            cases.add(name, Roles.NEAR, "8+1 clients x 20", isTwin ? FULL : QUICK, 60, clients);
        }
        cases.add("host/client-first", Roles.NEAR, "REJ 8, then 3 pings", QUICK, 30, HostCases::clientIsFirst);
        cases.add("host/device-removed", Roles.NEAR, "exit 255", QUICK, 30, HostCases::interfaceIsDeleted);
        cases.add("host/idle", Roles.NEAR, "under 1 % of a core", QUICK, 60, stage -> idle(stage, 0));
        cases.add("host/idle/after-traffic", Roles.NEAR, "under 1 % of a core", FULL, 60, stage -> idle(stage, 1));
        cases.add("host/silent-peer", Roles.FAR_SERVER, "UNREACHABLE -110", LONG, 150, HostCases::silent);
    }

    /** Servers with the same link-local address and port on two links are two servers. */
    private static void samePortOnTwoLinks(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(stage.server, Family.LL);
        var _ = Rping.serve(stage, "other", stage.server, Rping.PORT, "-a", address);
        Rping.pings(Family.TWIN, Rping.SIZE, 10).run(stage);
    }

    /** No server is running. A client is rejected at once if any process uses the server's address, here the client itself. */
    private static void clientIsFirst(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        long begin = System.currentTimeMillis();
        ConnectionCases.requireRejected(Rping.connect(stage, "client", Family.LO4, "-C", "3"), "8");
        InteropStage.requireBetween("the refusal", System.currentTimeMillis() - begin, 0, 5000);
        RunningProcess server = Rping.serve(stage, Family.LO4, "-v");
        Rping.requirePair(server, Rping.connect(stage, "client", Family.LO4, "-C", "3"), Rping.SIZE, 3);
    }

    /** The network interface of a waiting server is deleted. */
    private static void interfaceIsDeleted(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        Host host = stage.world.host(stage.server);
        host.run("ip", "link", "add", "gone0", "type", "veth", "peer", "name", "gone1");
        host.run("ip", "addr", "add", "10.90.0.1/24", "dev", "gone0");
        host.run("ip", "link", "set", "gone0", "up");
        host.run("ip", "link", "set", "gone1", "up");
        RunningProcess server;
        try {
            server = Rping.serve(stage, "server", stage.server, Rping.PORT, "-a", "10.90.0.1");
        } finally {
            host.run("ip", "link", "del", "gone0");
        }
        InteropStage.requireEnd(server, 10);
        server.requireStatus(255).requireComplains("^cma detected device removal!!!!$");
    }

    /** No process runs on the peer's host: the client has repeated its request to the end. */
    private static void silent(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        Rping.connect(stage, "client", Family.V4, "-C", "3")
                .requireStatus(255)
                .requireComplains("^cma event RDMA_CM_EVENT_UNREACHABLE, error -110$");
    }

    /**
     * Measures the processor time of two connected processes that wait. The least of three measurements counts: a virtual machine that
     * shares its processors also charges the time of others to the running process.
     */
    private static void idle(InteropStage stage, int secondsOfTraffic)
            throws CaseFailure, IOException, InterruptedException {
        PeerPair pair = PeerPair.connect(stage, Family.V4, End.SERVER, "seconds=" + secondsOfTraffic, "hold");
        Thread.sleep(
                Duration.ofSeconds(secondsOfTraffic + 5L)); // the compiler is busy for some seconds after the start
        double least = Double.MAX_VALUE;
        for (int i = 0; i < 3 && least >= MOST_IDLE_PERCENT; i++) {
            long before = processorTicks(pair);
            Thread.sleep(Duration.ofSeconds(IDLE_SECONDS));
            // Linux has a hundred ticks in a second.
            least = Math.min(least, (double) (processorTicks(pair) - before) / IDLE_SECONDS);
        }
        InteropStage.requireRunning(pair.server());
        InteropStage.requireRunning(pair.client());
        stage.stage.remark(String.format(Locale.ROOT, "%.2f %% of a core together", least));
        Stage.require(least < MOST_IDLE_PERCENT, "two idle processes must use less than 1 %");
    }

    private static long processorTicks(PeerPair pair) throws IOException {
        long ticks = 0;
        for (RunningProcess each : List.of(pair.server(), pair.client())) {
            String text = Files.readString(Path.of("/proc", Long.toString(each.programPid()), "stat"));
            // utime and stime are the fields 14 and 15; the second field is a name in brackets.
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
            ticks += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        }
        return ticks;
    }
}
