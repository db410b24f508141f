package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.LONG;
import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.Case.Extent;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One side of a connection of Java with Java is killed; and the owner of UDP port 4791 is killed under the traffic of others. */
final class KillCases {
    private static final int RECEIVES = 32;

    /** The exponents of the acknowledgement timeout: 67 ms, and the default of 2.1 s. */
    private static final int SHORT = 14;

    private static final int DEFAULT = 19;

    /** The process that replies to the survivor's DREQ. */
    private enum Afterwards {
        /** The survivor itself or the next owner of the port, at the victim's address. */
        NEIGHBOUR,
        /** Another process at the victim's address on another host (decision 028). */
        BYSTANDER,
        /** None: the DREQ expires after 16 intervals of the connection manager. */
        NOBODY
    }

    private KillCases() {}

    static void define(InteropCases cases) {
        for (End victim : End.values()) {
            for (End first : End.values()) {
                String name = victim + (first == victim ? "-owner" : "-member");
                Extent extent = first == End.SERVER ? QUICK : FULL;
                addKill(cases, name, Roles.NEAR, extent, Family.LO4, victim, first, Afterwards.NEIGHBOUR);
                addKill(cases, "ll/" + name, Roles.NEAR, FULL, Family.LL, victim, first, Afterwards.NEIGHBOUR);
                InteropCases.Body idle = stage -> killIdle(stage, victim, first);
                cases.add("host/kill-9/idle-" + name, Roles.NEAR, "DISCONNECTED < 2 s", FULL, 40, idle);
            }
            defineStreams(cases, victim);
        }
        for (Family family : List.of(Family.LL, Family.TWIN)) {
            addFar(cases, family + "/far-server", FULL, family, End.SERVER, Afterwards.BYSTANDER);
            cases.add(
                    "host/owner-killed/" + family, Roles.NEAR, "no error", FULL, 60, stage -> killOwner(stage, family));
        }
        addFar(cases, "far-server", QUICK, Family.V4, End.SERVER, Afterwards.BYSTANDER);
        addFar(cases, "far-client", QUICK, Family.V6, End.CLIENT, Afterwards.BYSTANDER);
        cases.add("host/owner-killed/3", Roles.NEAR, "no error", QUICK, 60, stage -> killOwner(stage, Family.V4));
        String five = "5-rping";
        cases.add(
                "host/owner-killed/ll/" + five,
                Roles.NEAR,
                "no error",
                FULL,
                90,
                stage -> killOwnerOfFive(stage, Family.LL));
        cases.add(
                "host/owner-killed/" + five,
                Roles.NEAR,
                "no error",
                QUICK,
                90,
                stage -> killOwnerOfFive(stage, Family.LO4));
        addFar(cases, "far-server-alone", LONG, Family.V4, End.SERVER, Afterwards.NOBODY);
        addFar(cases, "far-client-alone", LONG, Family.V6, End.CLIENT, Afterwards.NOBODY);
        InteropCases.Body slow =
                stage -> kill(stage, Family.LO4, End.SERVER, End.SERVER, DEFAULT, Afterwards.NEIGHBOUR);
        cases.add("host/kill-9/default-timeout", Roles.NEAR, "17-69 s, DISCONN. 0", LONG, 120, slow);
    }

    private static void addFar(
            InteropCases cases, String name, Extent extent, Family family, End victim, Afterwards afterwards) {
        Roles roles = victim == End.SERVER ? Roles.FAR_SERVER : Roles.FAR_CLIENT;
        addKill(cases, name, roles, extent, family, victim, End.SERVER, afterwards);
    }

    private static void addKill(
            InteropCases cases,
            String name,
            Roles roles,
            Extent extent,
            Family family,
            End victim,
            End first,
            Afterwards afterwards) {
        boolean isAlone = afterwards == Afterwards.NOBODY;
        InteropCases.Body body = stage -> kill(stage, family, victim, first, SHORT, afterwards);
        String expected = "0.5-2.1 s, DISCONN. " + (isAlone ? "-110" : "0");
        cases.add("host/kill-9/" + name, roles, expected, extent, isAlone ? 150 : 60, body);
    }

    private static void defineStreams(InteropCases cases, End victim) {
        String name = "host/kill-9/rstream-" + victim;
        List<String> bulk = List.of("-S", "65536", "-C", "1000000");
        List<String> blocking = List.of("-S", "65536", "-C", "1000000", "-T", "b");
        List<String> alternating = List.of("-S", "64", "-C", "1", "-I", "10000000", "-T", "a");
        InteropCases.Body inBulk = stage -> killStream(stage, Family.LO4, victim, 5, bulk);
        cases.add(name, Roles.NEAR, "fails < 5 s", QUICK, 40, inBulk);
        InteropCases.Body whileBlocking = stage -> killStream(stage, Family.V4, victim, 5, blocking);
        cases.add(name + "-b", Roles.NEAR, "fails < 5 s", FULL, 40, whileBlocking);
        InteropCases.Body whilePolling = stage -> killStream(stage, Family.LO6, victim, 5, alternating);
        cases.add(name + "-a", Roles.NEAR, "fails < 5 s", FULL, 40, whilePolling);
        boolean isServer = victim == End.SERVER;
        List<String> far = isServer ? bulk : List.of("-S", "64", "-C", "1", "-I", "10000000", "-T", "b");
        InteropCases.Body betweenHosts = stage -> killStream(stage, Family.V4, victim, 75, far);
        Roles roles = isServer ? Roles.FAR_SERVER : Roles.FAR_CLIENT;
        cases.add("host/kill-9/rstream-far-" + victim, roles, "fails < 75 s", LONG, 120, betweenHosts);
    }

    // ---- messages in both directions

    /**
     * A peer is killed under traffic. The survivor's oldest send fails after 8 to 32 acknowledgement timeouts (7 retries, each of which
     * may take up to four timeouts). All other work requests are flushed at once, and DISCONNECTED follows after its DREQ.
     */
    private static void kill(
            InteropStage stage, Family family, End victim, End first, int exponent, Afterwards afterwards)
            throws CaseFailure, IOException, InterruptedException {
        PeerPair pair = PeerPair.connect(stage, family, first, "ack=" + exponent, "patient");
        Side side = victim == End.SERVER ? stage.server : stage.client;
        if (afterwards == Afterwards.BYSTANDER) {
            var _ = Rping.serve(stage, "bystander", side, Rping.PORT + 1, "-a", stage.address(side, family));
        }
        Thread.sleep(Duration.ofMillis(1500));
        boolean isOwner = stage.ownsPort(pair.of(victim), side);
        Stage.require(
                isOwner == (first == victim || stage.server != stage.client),
                "the victim's owning the port is " + isOwner);
        long killed = System.currentTimeMillis();
        pair.of(victim).signal("KILL");
        requireLost(stage, pair.of(victim.other()), killed, exponent);
        requireDisconnected(stage, pair, victim.other(), exponent, afterwards);
    }

    private static void requireLost(InteropStage stage, RunningProcess survivor, long killed, int exponent)
            throws CaseFailure, IOException, InterruptedException {
        long timeoutMicros = (4096L << exponent) / 1000;
        PeerPair.await(survivor, "FLUSHED", (int) (timeoutMicros * 32 / 1_000_000) + 10);
        long lost = PeerPair.time(survivor, "LOST") - killed;
        stage.stage.remark(PeerPair.field(survivor, "lost") + " after " + seconds(lost));
        // The last acknowledgement may have arrived just before the kill, and a busy machine may wake the process late.
        InteropStage.requireBetween(
                "the error completion", lost, timeoutMicros * 8 / 1000 - 100, timeoutMicros * 32 / 1000 + 1000);
        long flush = PeerPair.time(survivor, "FLUSHED") - PeerPair.time(survivor, "LOST");
        InteropStage.requireBetween("the flush", flush, 0, 500);
        String flushed = PeerPair.field(survivor, "flushed-receives");
        Stage.require(flushed.equals(Integer.toString(RECEIVES)), flushed + " of 32 receives flushed");
    }

    private static void requireDisconnected(
            InteropStage stage, PeerPair pair, End survivor, int exponent, Afterwards afterwards)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess process = pair.of(survivor);
        // The peer's response timeout has the exponent 20, which Linux counts as 2^12 ms. The side that connected
        // adds the path in both directions, half an acknowledgement timeout each.
        long interval = 4096L + (survivor == End.CLIENT ? 1L << (exponent - 8) : 0);
        boolean isAlone = afterwards == Afterwards.NOBODY;
        PeerPair.await(process, "DISCONNECTING", 20);
        PeerPair.await(process, "DISCONNECTED", isAlone ? (int) (interval * 16 / 1000) + 20 : 20);
        long millis = PeerPair.time(process, "DISCONNECTED") - PeerPair.time(process, "DISCONNECTING");
        String status = PeerPair.field(process, "status");
        stage.stage.remark(
                "DISCONNECTED " + status + (millis < 0 ? " at once" : " " + seconds(millis) + " after the DREQ"));
        switch (afterwards) {
            // On the same host the notification of the exit arrives before the error completion.
            case NEIGHBOUR -> InteropStage.requireBetween("DISCONNECTED", millis, -75_000, 8000);
            // From another host the DREQ comes from another process at the victim's address.
            case BYSTANDER -> InteropStage.requireBetween("DISCONNECTED", millis, -75_000, 0);
            case NOBODY ->
                InteropStage.requireBetween("DISCONNECTED", millis, interval * 16 - 500, interval * 16 + 3000);
        }
        String expected = isAlone ? "-110" : "0";
        Stage.require(status.equals(expected), "DISCONNECTED with status " + status + ", expected " + expected);
        InteropStage.requireEnd(process, 10);
        process.requireStatus(3);
        InteropStage.requireErr(process, List.of());
    }

    private static String seconds(long millis) {
        return String.format(Locale.ROOT, "%.3f s", millis / 1e3);
    }

    /** No request is outstanding, so no timeout expires. Processes of one address are notified of each other's exit all the same. */
    private static void killIdle(InteropStage stage, End victim, End first)
            throws CaseFailure, IOException, InterruptedException {
        PeerPair pair = PeerPair.connect(stage, Family.LO4, first, "seconds=0", "hold");
        RunningProcess survivor = pair.of(victim.other());
        Thread.sleep(Duration.ofSeconds(1));
        long killed = System.currentTimeMillis();
        pair.of(victim).signal("KILL");
        PeerPair.await(survivor, "DISCONNECTED", 10);
        long millis = PeerPair.time(survivor, "DISCONNECTED") - killed;
        stage.stage.remark("DISCONNECTED after " + seconds(millis));
        InteropStage.requireBetween("DISCONNECTED", millis, 0, 2000);
        InteropStage.requireEnd(survivor, 10);
    }

    // ---- streams

    /**
     * One side of a stream of RDMA sockets is killed during a transfer. The other side must fail by itself, and all data that it had
     * read must be right. The client does not warm up, so that it transfers data when the other side is killed.
     */
    private static void killStream(InteropStage stage, Family family, End victim, int longest, List<String> options)
            throws CaseFailure, IOException, InterruptedException {
        stage.notWarmedUp();
        String address = stage.serverAddress(family);
        List<String> more = new ArrayList<>(options);
        more.addAll(List.of("-T", "v"));
        RunningProcess server = stage.start("server", stage.server, "rstream", joined("-b", address, more));
        stage.awaitListener(server, stage.server, 7471, address);
        RunningProcess client = stage.start("client", stage.client, "rstream", joined("-s", address, more));
        Thread.sleep(Duration.ofSeconds(3));
        InteropStage.requireRunning(client);
        InteropStage.requireRunning(server);
        RunningProcess survivor = victim == End.SERVER ? client : server;
        long killed = System.currentTimeMillis();
        (victim == End.SERVER ? server : client).signal("KILL");
        InteropStage.requireEnd(survivor, longest);
        stage.stage.remark("ended after " + seconds(System.currentTimeMillis() - killed));
        survivor.requireStatus(255);
        Stage.require(!survivor.complains("verification"), "the " + survivor.label() + " read wrong bytes");
        Stage.require(!survivor.err().isEmpty(), "the " + survivor.label() + " did not say why");
    }

    private static List<String> joined(String option, String address, List<String> more) {
        List<String> words = new ArrayList<>(List.of(option, address));
        words.addAll(more);
        return words;
    }

    // ---- the owner of the port

    /** The process that owns the port is killed. A connection of two other processes at the address must continue without an error. */
    private static void killOwner(InteropStage stage, Family family)
            throws CaseFailure, IOException, InterruptedException {
        String address = stage.address(stage.server, family);
        RunningProcess owner = Rping.serve(stage, "owner", stage.server, Rping.PORT + 1, "-a", address);
        PeerPair pair = PeerPair.connect(stage, family, End.SERVER, "ack=" + SHORT, "seconds=5");
        Thread.sleep(Duration.ofSeconds(1));
        requireOwner(stage, owner);
        owner.signal("KILL");
        InteropStage.requireEnd(pair.client(), 20);
        InteropStage.requireEnd(pair.server(), 5);
        pair.client().requireSuccess();
        pair.server().requireSuccess();
        stage.stage.remark("longest gap " + PeerPair.field(pair.client(), "longest-gap-ms") + " ms, "
                + PeerPair.field(pair.client(), "sent") + " and " + PeerPair.field(pair.server(), "sent")
                + " messages");
    }

    private static void requireOwner(InteropStage stage, RunningProcess owner)
            throws CaseFailure, IOException, InterruptedException {
        Stage.require(stage.ownsPort(owner, stage.server), "the first process does not own the port");
    }

    /** The same with rping: the owner has a client of its own. A persistent server with two other clients must continue. */
    private static void killOwnerOfFive(InteropStage stage, Family family)
            throws CaseFailure, IOException, InterruptedException {
        String address = stage.serverAddress(family);
        RunningProcess owner = Rping.serve(stage, "owner", stage.server, Rping.PORT + 1, "-a", address);
        RunningProcess server = Rping.serve(stage, "server", stage.server, Rping.PORT, "-a", address, "-P");
        RunningProcess ownersClient = Rping.connect(stage, "owners-client", family, Rping.PORT + 1);
        List<RunningProcess> clients =
                List.of(Rping.connect(stage, "client1", family), Rping.connect(stage, "client2", family));
        for (RunningProcess each : List.of(clients.get(0), clients.get(1), ownersClient)) {
            awaitPings(stage, each, 50, 20, " printed no 50 pings");
        }
        requireOwner(stage, owner);
        owner.signal("KILL");
        Thread.sleep(Duration.ofSeconds(1)); // what was in the pipe is printed
        for (RunningProcess each : clients) {
            awaitPings(stage, each, Rping.count(each) + 200, 25, " stood still");
        }
        for (RunningProcess each : clients) {
            InteropStage.interrupt(each);
            Rping.requireClientPings(each, Rping.SIZE, (int) Rping.count(each));
            Stage.require(!each.complains("failed|error"), "the " + each.label() + " complained");
        }
        InteropStage.interrupt(server);
    }

    private static void awaitPings(InteropStage stage, RunningProcess process, long count, int seconds, String reason)
            throws CaseFailure, IOException, InterruptedException {
        Duration most = Duration.ofSeconds(seconds);
        stage.await(most, () -> Rping.count(process) >= count, "the " + process.label() + reason);
    }
}
