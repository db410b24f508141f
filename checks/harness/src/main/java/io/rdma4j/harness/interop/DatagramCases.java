package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.FULL;
import static io.rdma4j.harness.Case.Extent.QUICK;
import static io.rdma4j.harness.interop.Family.LL;
import static io.rdma4j.harness.interop.Family.LO4;
import static io.rdma4j.harness.interop.Family.LO6;
import static io.rdma4j.harness.interop.Family.V4;
import static io.rdma4j.harness.interop.Family.V6;

import io.rdma4j.harness.Capture;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** udpong: datagrams over RDMA sockets. */
final class DatagramCases {
    private static final String ROUND_TRIPS = "1000 +2k +1\\.9m";
    private static final String ROUND_TRIP_OPTIONS = "-C 1000 -T e";

    private DatagramCases() {}

    /** C cannot run udpong over RoCE. */
    static void define(InteropCases cases, Roles roles) {
        Rows rows = new Rows(cases, roles, 40);
        if (cases.setting.isPeerC()) {
            rows.add("udpong", "C cannot: rconnect", QUICK, DatagramCases::isRefusedInC);
            return;
        }
        rows.cannot(
                "udpong",
                "librdmacm makes address handles without a global route, which RoCE refuses; C with C: udpong/c");
        if (rows.hasJavaServer()) {
            Rows inC = new Rows(cases, new Roles(Side.LINUX, Side.LINUX), 40);
            inC.add("udpong/c", "C cannot: rconnect", QUICK, DatagramCases::isRefusedInC);
        }
    }

    /** For comparison with host/udpong/…: the client in C fails before the first packet. */
    private static void isRefusedInC(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        String address = stage.serverAddress(V4);
        Pair pair = Pair.start(
                stage,
                "udpong -b " + address,
                server -> Thread.sleep(Duration.ofSeconds(2)),
                "udpong -s " + address + " -C 10 -T e");
        InteropStage.requireRunning(pair.server());
        InteropStage.requireEnd(pair.client(), 30);
        pair.client().requireStatus(255).requireComplains("^rconnect: ");
        stage.stage.remark(pair.client().err().lines().findFirst().orElse(""));
        var capture = World.captureOf(stage.stage);
        Stage.require(!Files.exists(capture) || Capture.lines(capture, "").isEmpty(), "packets were sent");
    }

    /** Between processes of one host, and between two hosts that both run Java. */
    static void defineOnHosts(InteropCases cases) {
        Rows near = new Rows(cases, Roles.NEAR, 30);
        for (Family family : List.of(LO4, V4, LO6, V6, LL)) {
            near.add("host/udpong/" + family, "1000 round trips", family == V4 ? QUICK : FULL, roundTrips(family));
        }
        Rows far = new Rows(cases, Roles.FAR_SERVER, 30);
        for (Family family : List.of(V4, V6, LL)) {
            far.add("host/udpong/far-" + family, "1000 round trips", family == V4 ? QUICK : FULL, roundTrips(family));
        }
        far.add(
                "host/udpong/far-2000",
                "longer than the MTU",
                exchange(V4, 1, "1\\.9k +400 +781k", "-C 200 -S 2000 -T e"));
        far.add("host/udpong/far-bw", "bandwidth", exchange(V4, 1, "1000 +[0-9]+k? +[0-9.]+[km]", "-C 20000"));
        far.add("host/udpong/far-ab", "poll, blocking", exchange(V6, 1, "64 +600 +37k", "-C 300 -S 64 -T e -T a -T b"));
        far.add("host/udpong/clients", "4 clients", QUICK, 60, exchange(V4, 4, "100 +600 +58k", "-C 300 -S 100 -T e"));
    }

    private static InteropCases.Body roundTrips(Family family) {
        return exchange(family, 1, ROUND_TRIPS, ROUND_TRIP_OPTIONS);
    }

    /** Each of several clients at the same time prints the expected row. The server runs until SIGINT. */
    private static InteropCases.Body exchange(Family family, int clients, String row, String options) {
        return stage -> {
            RunningProcess server =
                    Pair.start(stage, "server", stage.server, "udpong -b " + stage.address(stage.server, family));
            stage.awaitStart(
                    () -> server.hasEnded()
                            || stage.udpSockets(server, stage.server).stream().anyMatch(each -> each.endsWith(":7174")),
                    "the server did not bind");
            String command = "udpong -s " + stage.serverAddress(family) + " " + options;
            List<RunningProcess> all = new ArrayList<>();
            for (int i = 1; i <= clients; i++) {
                all.add(Pair.start(stage, "client" + i, stage.client, command));
            }
            for (RunningProcess client : all) {
                client.requireSuccess()
                        .requireLines(
                                1, "^custom +" + row + " +[0-9]+\\.[0-9]{2}s +[0-9]+\\.[0-9]{2} +[0-9]+\\.[0-9]{2}$");
                InteropStage.requireQuiet(client);
            }
            String[] words = all.getFirst().out().strip().split("\\s+", -1);
            stage.stage.remark(words[words.length - 1] + " us");
            InteropStage.interrupt(server);
            // On a busy machine a client that gets no reply to its login in time logs in again.
            long logins = server.out()
                    .lines()
                    .filter(line -> line.startsWith("client login from "))
                    .count();
            Stage.require(logins >= clients, "the server did not see " + clients + " clients");
        };
    }
}
