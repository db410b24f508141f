package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.LONG;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.LL;
import static io.rdma4j.harness.interop.Family.LO4;
import static io.rdma4j.harness.interop.Family.LO6;
import static io.rdma4j.harness.interop.Family.TWIN;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;
import static io.rdma4j.harness.interop.Kill.Responder.BYSTANDER;
import static io.rdma4j.harness.interop.Kill.Responder.NEIGHBOUR;
import static io.rdma4j.harness.interop.Kill.Responder.NOBODY;
import static io.rdma4j.harness.interop.Peer.Role.CLIENT;
import static io.rdma4j.harness.interop.Peer.Role.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import io.rdma4j.harness.interop.Peer.Role;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Processes of Java that wait, that lose their peer, or that lose the process that owns their port. */
final class KillCases {
    /** The exponent of an acknowledgement timeout of 67 ms. */
    private static final int SHORT = 14;

    private static final int DEFAULT = 19;
    private static final String SOON = "0.5-2.1 s, DISCONN. 0";
    private static final String NEVER = "0.5-2.1 s, DISCONN. -110";
    private static final String BULK = "-S 65536 -C 1000000";
    private static final String ALTERNATING = "-S 64 -C 1 -I 10000000";

    private KillCases() {}

    static void define(InteropCases cases) {
        Rows near = new Rows(cases, Roles.NEAR, 60);
        near.add("host/idle", "under 1 % of a core", QUICK, stage -> requireIdle(stage, 0));
        near.add("host/idle/after-traffic", "under 1 % of a core", stage -> requireIdle(stage, 1));
        for (Role victim : Role.values()) {
            for (Role first : Role.values()) {
                var extent = first == SERVER ? QUICK : FULL; // a victim that owns the port, and one that does not
                Kill kill = new Kill(LO4, victim, first, SHORT, NEIGHBOUR);
                near.add("host/kill-9/" + title(victim, first), SOON, extent, kill);
            }
        }
        for (Role victim : Role.values()) {
            for (Role first : Role.values()) {
                String name = "host/kill-9/idle-" + title(victim, first);
                near.add(name, "DISCONNECTED < 2 s", FULL, 40, stage -> killIdle(stage, victim, first));
            }
        }
        for (Role victim : Role.values()) {
            String name = "host/kill-9/rstream-" + victim;
            near.add(name, "fails < 5 s", QUICK, 40, killStream(LO4, victim, 5, BULK));
            near.add(name + "-b", "fails < 5 s", FULL, 40, killStream(V4, victim, 5, BULK + " -T b"));
            near.add(name + "-a", "fails < 5 s", FULL, 40, killStream(LO6, victim, 5, ALTERNATING + " -T a"));
        }
        for (Role victim : Role.values()) {
            for (Role first : Role.values()) {
                Kill kill = new Kill(LL, victim, first, SHORT, NEIGHBOUR);
                near.add("host/kill-9/ll/" + title(victim, first), SOON, kill);
            }
        }
        defineOnTwoHosts(cases, near);
    }

    private static String title(Role victim, Role first) {
        return victim + (first == victim ? "-owner" : "-member");
    }

    private static void defineOnTwoHosts(InteropCases cases, Rows near) {
        Rows farServer = new Rows(cases, Roles.FAR_SERVER, 60);
        Rows farClient = new Rows(cases, Roles.FAR_CLIENT, 60);
        for (Family family : List.of(LL, TWIN)) {
            Kill kill = new Kill(family, SERVER, SERVER, SHORT, BYSTANDER);
            farServer.add("host/kill-9/" + family + "/far-server", SOON, kill);
            near.add("host/owner-killed/" + family, "no error", stage -> killOwner(stage, family));
        }
        near.add("host/owner-killed/ll/5-rping", "no error", FULL, 90, stage -> killOwnerOfPings(stage, LL));
        farServer.add("host/kill-9/far-server", SOON, QUICK, new Kill(V4, SERVER, SERVER, SHORT, BYSTANDER));
        farClient.add("host/kill-9/far-client", SOON, QUICK, new Kill(V6, CLIENT, SERVER, SHORT, BYSTANDER));
        near.add("host/owner-killed/3", "no error", QUICK, stage -> killOwner(stage, V4));
        near.add("host/owner-killed/5-rping", "no error", QUICK, 90, stage -> killOwnerOfPings(stage, LO4));
        Kill alone = new Kill(V4, SERVER, SERVER, SHORT, NOBODY);
        farServer.add("host/kill-9/far-server-alone", NEVER, LONG, 150, alone);
        farClient.add("host/kill-9/far-client-alone", NEVER, LONG, 150, new Kill(V6, CLIENT, SERVER, SHORT, NOBODY));
        String name = "host/kill-9/rstream-far-";
        farServer.add(name + "server", "fails < 75 s", LONG, 120, killStream(V4, SERVER, 75, BULK));
        farClient.add(name + "client", "fails < 75 s", LONG, 120, killStream(V4, CLIENT, 75, ALTERNATING + " -T b"));
        Kill patient = new Kill(LO4, SERVER, SERVER, DEFAULT, NEIGHBOUR);
        near.add("host/kill-9/default-timeout", "17-69 s, DISCONN. 0", LONG, 120, patient);
    }

    /**
     * Measures the processor time of two connected processes that wait. The least of three measurements counts: a virtual machine that
     * shares its processors also charges the time of others to the running process.
     */
    private static void requireIdle(InteropStage stage, int secondsOfTraffic)
            throws CaseFailure, IOException, InterruptedException {
        Peer.Connection peers = Peer.connect(stage, V4, SERVER, "seconds=" + secondsOfTraffic, "hold");
        // The compiler of the virtual machine is busy for some seconds after the start.
        Thread.sleep(Duration.ofSeconds(secondsOfTraffic + 5));
        double least = 100;
        for (int i = 0; i < 3 && least >= 1; i++) {
            long before = processorMillis(peers);
            Thread.sleep(Duration.ofSeconds(6));
            least = Math.min(least, (processorMillis(peers) - before) / 60.0);
        }
        InteropStage.requireRunning(peers.server().process());
        InteropStage.requireRunning(peers.client().process());
        stage.stage.remark(String.format(Locale.ROOT, "%.2f %% of a core together", least));
        Stage.require(least < 1, "two idle processes must use less than 1 %");
    }

    private static long processorMillis(Peer.Connection peers) {
        return Stream.of(peers.server(), peers.client())
                .flatMap(peer -> ProcessHandle.of(peer.process().programPid()).stream())
                .flatMap(handle -> handle.info().totalCpuDuration().stream())
                .mapToLong(Duration::toMillis)
                .sum();
    }

    /** No request is outstanding, so no timeout expires. Processes of one address are notified of each other's exit all the same. */
    private static void killIdle(InteropStage stage, Role victim, Role first)
            throws CaseFailure, IOException, InterruptedException {
        Peer.Connection peers = Peer.connect(stage, LO4, first, "seconds=0", "hold");
        Thread.sleep(Duration.ofSeconds(1));
        long killed = peers.of(victim).kill();
        Peer survivor = peers.of(victim.other());
        long took = survivor.await("DISCONNECTED", 10) - killed;
        stage.stage.remark("DISCONNECTED after " + Kill.seconds(took));
        InteropStage.requireBetween("DISCONNECTED", took, 0, 2000);
        InteropStage.requireEnd(survivor.process(), 10);
    }

    /**
     * One side of a stream of RDMA sockets is killed during a transfer. The other side must fail by itself, and all data that it has
     * read must be right (-T v). The client does not warm up, so that it transfers data when the other side is killed.
     */
    private static InteropCases.Body killStream(Family family, Role victim, int seconds, String options) {
        return stage -> {
            String address = stage.serverAddress(family);
            Pair pair = Pair.start(
                    stage,
                    "rstream -b " + address + " " + options + " -T v",
                    Pair.at(stage, 7471, address),
                    "rstream -s " + address + " " + options + " -T v --no-warm-up");
            Thread.sleep(Duration.ofSeconds(3));
            InteropStage.requireRunning(pair.client());
            InteropStage.requireRunning(pair.server());
            RunningProcess dying = victim == SERVER ? pair.server() : pair.client();
            RunningProcess survivor = victim == SERVER ? pair.client() : pair.server();
            long killed = System.currentTimeMillis();
            dying.signal("KILL");
            InteropStage.requireEnd(survivor, seconds);
            stage.stage.remark("ended after " + Kill.seconds(System.currentTimeMillis() - killed));
            survivor.requireStatus(255);
            Stage.require(!survivor.complains("verification"), "the " + survivor.label() + " read wrong bytes");
            Stage.require(!survivor.err().isEmpty(), "the " + survivor.label() + " did not print the reason");
        };
    }

    /** The process that owns the port is killed. A connection of two other processes at the address must continue without an error. */
    private static void killOwner(InteropStage stage, Family family)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess owner = serveAsOwner(stage, family);
        Peer.Connection peers = Peer.connect(stage, family, SERVER, "ack=" + SHORT, "seconds=5");
        Thread.sleep(Duration.ofSeconds(1));
        killOwner(stage, owner);
        peers.requireSuccess();
        stage.stage.remark("longest gap %s ms, %s and %s messages"
                .formatted(
                        peers.client().field("longest-gap-ms"),
                        peers.client().field("sent"),
                        peers.server().field("sent")));
    }

    private static RunningProcess serveAsOwner(InteropStage stage, Family family)
            throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(stage.server, family);
        return Rping.serve(stage, "owner", stage.server, Rping.PORT + 1, "-a", address);
    }

    private static void killOwner(InteropStage stage, RunningProcess owner)
            throws CaseFailure, IOException, InterruptedException {
        Stage.require(stage.ownsPort(owner, stage.server), "the first process does not own the port");
        owner.signal("KILL");
    }

    /** The same with rping: the owner has a client of its own. A persistent server with two other clients must continue. */
    private static void killOwnerOfPings(InteropStage stage, Family family)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess owner = serveAsOwner(stage, family);
        RunningProcess server = Rping.serve(stage, family, "-P");
        String address = stage.serverAddress(family);
        int port = Rping.PORT + 1;
        RunningProcess ofOwner =
                Pair.start(stage, "owners-client", stage.client, "rping -c -a " + address + " -p " + port + " -v");
        List<RunningProcess> clients =
                List.of(Rping.connect(stage, "client1", family), Rping.connect(stage, "client2", family));
        awaitLines(clients.get(0), 50, 20);
        awaitLines(clients.get(1), 50, 20);
        awaitLines(ofOwner, 50, 20);
        killOwner(stage, owner);
        Thread.sleep(Duration.ofSeconds(1)); // what was in the pipe is printed
        for (RunningProcess client : clients) {
            awaitLines(client, lines(client) + 200, 25);
        }
        for (RunningProcess client : clients) {
            InteropStage.interrupt(client);
            long pings = client.out().lines().filter(line -> line.startsWith("ping data: ")).count();
            Rping.requireClientPings(client, Rping.SIZE, (int) pings);
            Stage.require(!client.complains("failed|error"), "the " + client.label() + " complained: " + client.err());
        }
        InteropStage.interrupt(server);
    }

    private static long lines(RunningProcess process) {
        return process.out().lines().count();
    }

    private static void awaitLines(RunningProcess process, long count, int seconds)
            throws CaseFailure, IOException, InterruptedException {
        Stage.await(
                Duration.ofSeconds(seconds),
                () -> lines(process) >= count,
                "the " + process.label() + " did not print " + count + " pings");
    }
}
