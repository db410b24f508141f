package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Libraries on top of libibverbs and librdmacm: UCX, librspreload in programs that use plain sockets, and Open MPI over UCX. */
final class LibraryCases {
    private static final int UCX_PORT = 13337;
    private static final int NETPIPE_PORT = 5002;
    private static final int SOCKETS_PORT = 18600;
    private static final long MOST_END_NANOS = 5_000_000_000L;

    private LibraryCases() {}

    static void define(ExecCases cases) {
        addUcp(cases, "rc", QUICK, "tag_lat");
        addUcp(cases, "ud", QUICK, "tag_lat");
        addUcp(cases, "rc", FULL, "tag_bw -s 65536");
        addUcp(cases, "rc", FULL, "ucp_put_lat");
        addUcp(cases, "rc", FULL, "ucp_get -s 4096");
        addUcp(cases, "rc", FULL, "stream_bw -s 4096");
        addUcp(cases, "ud", FULL, "tag_bw -s 4096");
        addUcx(
                cases,
                "ud/tag_lat-IPv6",
                FULL,
                "env UCX_NET_DEVICES=rdma4j_eth0:1 UCX_TLS=ud UCX_IB_GID_INDEX=" + ExecStage.IPV6_GID_INDEX
                        + " ucx_perftest -t tag_lat");
        addUct(cases, "rc_verbs", "am_lat");
        addUct(cases, "rc_verbs", "put_bw -D zcopy -s 4096");
        addUct(cases, "rc_verbs", "fadd -s 8");
        addUct(cases, "ud_verbs", "am_lat");
        addNetpipe(cases, "NPtcp", QUICK, 40, true, "-i -u 4096");
        addNetpipe(cases, "NPtcp-outside", FULL, 40, false, "-i -u 4096");
        addNetpipe(cases, "NPtcp-64K", FULL, 60, true, "-l 16384 -u 65536 -n 20");
        cases.add("librspreload/sockets", Roles.C_WITH_C, FULL, 40, stage -> receivesAll(stage, "send", "3000000"));
        cases.add("librspreload/client-leaves", Roles.C_WITH_C, FULL, 40, stage -> receivesAll(stage, "leave", "12"));
        cases.add("Open-MPI", Roles.C_WITH_C, QUICK, 40, stage -> exchangesRanks(stage, "rc"));
        cases.add("Open-MPI/UD", Roles.C_WITH_C, FULL, 40, stage -> exchangesRanks(stage, "ud"));
    }

    // ---- UCX

    /** Adds a case of messages of UCP, which chooses the GID of the IPv4 address by itself. */
    private static void addUcp(ExecCases cases, String transport, boolean isQuick, String test) {
        addUcx(
                cases,
                transport + "/" + test.split(" ", -1)[0],
                isQuick,
                "env UCX_NET_DEVICES=rdma4j_eth0:1 UCX_TLS=" + transport + " ucx_perftest -t " + test);
    }

    /** Adds a case of one transport of UCT. */
    private static void addUct(ExecCases cases, String transport, String test) {
        addUcx(
                cases,
                transport + "/" + test.split(" ", -1)[0],
                FULL,
                "ucx_perftest -d rdma4j_eth0:1 -x " + transport + " -t " + test);
    }

    private static void addUcx(ExecCases cases, String name, boolean isQuick, String command) {
        String server = command + " -n 200 -w 20";
        Pair pair = Pair.of(Pair.tcp(UCX_PORT), server, server + " " + SERVER).checked(LibraryCases::requireUcxResult);
        cases.addPair("ucx_perftest/" + name, Roles.C_WITH_C, isQuick, 40, pair);
    }

    private static void requireUcxResult(ExecStage stage, RunningProcess server, RunningProcess client)
            throws CaseFailure {
        for (RunningProcess each : List.of(server, client)) {
            Stage.require(
                    !(each.out() + each.err()).matches("(?s).*UCX +(WARN|ERROR|FATAL).*"),
                    "the " + each.label() + " reports a warning or an error of UCX");
        }
        String[] result = client.out()
                .lines()
                .filter(line -> line.startsWith("Final: "))
                .findFirst()
                .orElseThrow(() -> new CaseFailure("the client prints no result"))
                .split(" +", -1);
        stage.stage.remark("average " + result[3] + " us, " + result[5] + " MB/s");
    }

    // ---- librspreload

    private static String preload() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("/usr/lib"))) {
            return "LD_PRELOAD="
                    + files.filter(file -> file.endsWith("rsocket/librspreload.so"))
                            .findFirst()
                            .orElseThrow(() -> new IOException("librspreload.so is not installed"));
        }
    }

    /** NPtcp sends messages of many sizes in both directions, and with -i compares them. */
    private static void addNetpipe(
            ExecCases cases,
            String name,
            boolean isQuick,
            int limitSeconds,
            boolean isPreloadedInside,
            String options) {
        cases.add(
                "librspreload/" + name,
                Roles.C_WITH_C,
                isQuick,
                limitSeconds,
                stage -> runNetpipe(stage, isPreloadedInside, options));
    }

    private static void runNetpipe(ExecStage stage, boolean isPreloadedInside, String options)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = stage.start(
                "server",
                Side.SERVER,
                netpipe(stage, isPreloadedInside, "NPtcp " + options + " -o " + stage.file("server.figures")));
        stage.awaitListener();
        requireNoTcpListener(stage, NETPIPE_PORT);
        RunningProcess client = stage.start(
                "client",
                Side.CLIENT,
                netpipe(
                        stage,
                        isPreloadedInside,
                        "NPtcp -h " + SERVER + " " + options + " -o " + stage.file("client.figures")));
        client.requireSuccess();
        server.requireSuccess();
        ExecStage.requireNoComplaint(client);
        ExecStage.requireNoComplaint(server);
        Stage.require(
                !options.startsWith("-i") || client.complains("check passed") && !client.complains("(?i)fail"),
                "the data differ");
    }

    private static List<String> netpipe(ExecStage stage, boolean isPreloadedInside, String command) throws IOException {
        List<String> preload = List.of("env", preload());
        List<String> words = new ArrayList<>(isPreloadedInside ? List.of() : preload);
        List<String> program = new ArrayList<>(isPreloadedInside ? preload : List.of());
        program.addAll(ExecStage.words(command));
        words.addAll(stage.execWords(List.of(), program));
        return words;
    }

    private static void requireNoTcpListener(ExecStage stage, int port)
            throws CaseFailure, IOException, InterruptedException {
        Stage.require(!stage.hosts.listensOnTcp(Side.SERVER, port), "the server listens on a TCP port");
    }

    /** The server receives all bytes, and ends soon after the client, even if the client does not close its socket. */
    private static void receivesAll(ExecStage stage, String way, String bytes)
            throws CaseFailure, IOException, InterruptedException {
        stage.compile("sockets", "-Wall", stage.source("lib/sockets.c").toString());
        String program = stage.file("sockets").toString();
        RunningProcess server = stage.exec("server", Side.SERVER, "env", preload(), program, "receive");
        stage.awaitListener();
        requireNoTcpListener(stage, SOCKETS_PORT);
        stage.exec("client", Side.CLIENT, "env", preload(), program, way, SERVER)
                .requireSuccess();
        long begin = System.nanoTime();
        server.requireSuccess();
        Stage.require(
                System.nanoTime() - begin < MOST_END_NANOS, "the server is not notified that the client has ended");
        server.requireLines(1, "^" + bytes + " bytes, 0 wrong$");
    }

    // ---- Open MPI

    /** Two ranks on one host. UCX prints which transports they use. */
    private static void exchangesRanks(ExecStage stage, String transport)
            throws CaseFailure, IOException, InterruptedException {
        ExecStage.requireRun(
                "cannot compile",
                List.of(
                        "mpicc",
                        "-O1",
                        "-Wall",
                        "-o",
                        stage.file("ranks").toString(),
                        stage.source("lib/ranks.c").toString()));
        String command = "env UCX_NET_DEVICES=rdma4j_eth0:1 UCX_TLS=" + transport
                + ",self UCX_LOG_LEVEL=info mpirun --oversubscribe -n 2 --mca pml ucx " + stage.file("ranks");
        RunningProcess program = ExecStage.requireSuccess(
                stage.exec("program", Side.SERVER, ExecStage.words(command).toArray(String[]::new)));
        program.requireLines(2, "^rank [01]: 0 wrong$");
        program.requireLines(2, "ep_cfg\\[1\\].*" + transport + "_verbs/rdma4j_eth0:1");
    }
}
