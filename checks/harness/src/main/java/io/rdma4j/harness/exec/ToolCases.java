package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;
import static io.rdma4j.harness.exec.ExecHosts.CLIENT;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;
import static io.rdma4j.harness.exec.ExecHosts.SERVER_IPV6;
import static io.rdma4j.harness.exec.Pair.CM;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The programs of ibverbs-utils and rdmacm-utils. */
final class ToolCases {
    private static final String PLACE = "-d rdma4j_eth0 -g " + ExecStage.GID_INDEX;
    private static final int PORT = 18515;
    private static final Pattern FIGURE = Pattern.compile(".* = (.*)$");

    private ToolCases() {}

    static void define(ExecCases cases) {
        cases.add("ibv_devices", QUICK, 20, stage -> prints(stage, "rdma4j_eth0", "ibv_devices"));
        cases.add(
                "ibv_devinfo",
                QUICK,
                20,
                stage -> prints(stage, "state:.*PORT_ACTIVE", "ibv_devinfo", "-d", "rdma4j_eth0"));
        cases.add("ibv_devinfo/-v", FULL, 20, stage -> prints(stage, "GID\\[", "ibv_devinfo", "-v"));
        cases.add("ibv_devices/same-as-Java", QUICK, 20, ToolCases::listsTheSameDevices);
        cases.add("ibv_asyncwatch", QUICK, 20, ToolCases::reportsAnInterfaceThatGoesDown);
        definePingpongs(cases);
        defineConnections(cases);
    }

    /** Runs one program, and expects a line of its output. */
    static void prints(ExecStage stage, String regex, String... command)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess program = ExecStage.requireSuccess(stage.exec("program", Side.SERVER, command));
        Stage.require(program.prints(regex), "it does not print '" + regex + "'");
    }

    /** C and Java list the same devices with the same GUIDs. */
    private static void listsTheSameDevices(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        RunningProcess program = stage.exec("program", Side.SERVER, "ibv_devices");
        program.awaitEnd();
        RunningProcess java = stage.start("java", Side.SERVER, List.of(stage.launcher(), "ibv_devices"));
        java.awaitEnd();
        Stage.require(firstColumns(program.out()).equals(firstColumns(java.out())), "the lists differ");
    }

    private static List<List<String>> firstColumns(String table) {
        return table.lines()
                .map(line -> List.of(line.strip().split("\\s+", -1)))
                .map(words -> words.subList(0, Math.min(2, words.size())))
                .toList();
    }

    private static void reportsAnInterfaceThatGoesDown(ExecStage stage)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess program =
                stage.exec("program", Side.SERVER, "stdbuf", "-o", "L", "ibv_asyncwatch", "-d", "rdma4j_eth0");
        Stage.await(Duration.ofSeconds(10), () -> program.prints("async event FD"), "it does not open the device");
        Thread.sleep(Duration.ofMillis(500));
        stage.hosts.disconnect(Side.CLIENT);
        try {
            Stage.await(Duration.ofSeconds(10), () -> program.prints("event_type"), "it prints no event");
        } finally {
            stage.hosts.connect(Side.CLIENT);
            for (Side side : Side.values()) { // later rows use both interfaces
                var _ = Stage.holdsWithin(Duration.ofSeconds(10), () -> stage.hosts.hasCarrier(side));
            }
        }
        program.end("INT");
    }

    // ---- ping-pongs

    private static void definePingpongs(ExecCases cases) {
        for (String kind : List.of("rc", "uc", "ud", "srq")) {
            addPingpong(cases, kind, QUICK, "-n 200 -c");
            addPingpong(cases, kind, FULL, "-n 100 -c -e");
        }
        addPingpong(cases, "rc", FULL, "-n 200 -s 65536 -m 1024 -c");
        cases.add("ibv_rc_pingpong/-t", Roles.C_WITH_C, FULL, 20, ToolCases::hasNoTimestamps);
        addPingpong(cases, "rc", FULL, "-n 100 -N");
        addPingpong(cases, "srq", FULL, "-n 200 -q 4");
        Pair xsrq = pingpong("ibv_xsrq_pingpong", "");
        cases.addPairs("ibv_xsrq_pingpong", QUICK, xsrq);
        cases.addPairs("ibv_xsrq_pingpong/-e", FULL, pingpong("ibv_xsrq_pingpong", "-e"));
        cases.addPairs(
                "ibv_rc_pingpong/same-host",
                FULL,
                pingpong("ibv_rc_pingpong", "-n 500 -c").onOneHost().checked(ToolCases::remarkFigure));
    }

    private static void addPingpong(ExecCases cases, String kind, boolean isQuick, String options) {
        String tool = "ibv_" + kind + "_pingpong";
        cases.addPairs(
                tool + "/" + options.replace(" ", ""),
                isQuick,
                pingpong(tool, options).checked(ToolCases::remarkFigure));
    }

    private static Pair pingpong(String tool, String options) {
        String server = (tool + " " + PLACE + " " + options).strip();
        return Pair.of(Pair.tcp(PORT), server, server + " " + SERVER);
    }

    private static void remarkFigure(ExecStage stage, RunningProcess server, RunningProcess client) {
        String figure = "";
        for (String line : client.out().lines().toList()) {
            Matcher matcher = FIGURE.matcher(line);
            if (matcher.find()) {
                figure = matcher.group(1);
            }
        }
        stage.stage.remark(figure);
    }

    /** Only hardware has timestamps of completions: the program prints the same as on an rdma_rxe device. */
    private static void hasNoTimestamps(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        List<String> words = new ArrayList<>(ExecStage.words("ibv_rc_pingpong " + PLACE));
        words.add("-t");
        RunningProcess program = stage.exec("program", Side.SERVER, words.toArray(String[]::new));
        program.requireStatus(1);
        Stage.require(
                program.complains("completion timestamp capable"),
                "it does not report that the device has no timestamps");
    }

    // ---- the connection manager

    private static void defineConnections(ExecCases cases) {
        addConnection(
                cases,
                "rping",
                QUICK,
                "rping -s -a " + SERVER + " -C 10 -V -v",
                "rping -c -a " + SERVER + " -C 10 -V -v",
                (stage, server, client) -> client.requireLines(10, "^ping.data:"));
        addConnection(
                cases, "rping/-S-64K", FULL, "rping -s -a %s -C 50 -S 65000 -V", "rping -c -a %s -C 50 -S 65000 -V");
        addConnection(cases, "rping/-q", FULL, "rping -s -a %s -C 10 -q", "rping -c -a %s -C 10 -q");
        addConnection(
                cases,
                "rping/IPv6",
                FULL,
                "rping -s -a " + SERVER_IPV6 + " -C 5 -V",
                "rping -c -a " + SERVER_IPV6 + " -C 5 -V");
        addConnection(cases, "ucmatose", QUICK, "ucmatose -c 2", "ucmatose -c 2 -s %s");
        addConnection(
                cases, "ucmatose/-c-20", FULL, "ucmatose -c 20 -C 20 -S 1000", "ucmatose -c 20 -C 20 -S 1000 -s %s");
        addConnection(cases, "ucmatose/-m", FULL, "ucmatose -c 2 -m", "ucmatose -c 2 -m -s %s");
        addConnection(cases, "udaddy", QUICK, "udaddy -c 2", "udaddy -c 2 -s %s");
        addConnection(
                cases, "mckey", QUICK, "mckey -m 239.1.1.1 -b %s -C 5", "mckey -m 239.1.1.1 -b " + CLIENT + " -s -C 5");
        addConnection(cases, "rdma_client", QUICK, "rdma_server -s %s", "rdma_client -s %s");
        addConnection(cases, "rdma_xclient/RC", QUICK, "rdma_xserver -c r", "rdma_xclient -s %s -c r");
        addConnection(cases, "rdma_xclient/XRC", FULL, "rdma_xserver -c x", "rdma_xclient -s %s -c x");
        addStream(cases, "rstream", QUICK, "rstream", "-S 64 -C 100 -T v");
        addStream(cases, "rstream/all", FULL, "rstream", "-S all -C 5 -I 5");
        addStream(cases, "rstream/-T-n", FULL, "rstream", "-S 4096 -C 100 -T n");
        addStream(cases, "rstream/-T-b", FULL, "rstream", "-S 4096 -C 100 -T b");
        addStream(cases, "rstream/-T-r", FULL, "rstream", "-S 64 -C 20 -T r");
        addStream(cases, "riostream", QUICK, "riostream", "-S 64 -C 100 -T v");
        cases.add("udpong", Roles.C_WITH_C, FULL, 20, ToolCases::datagramSocketsAreRefused);
        for (Roles roles : Roles.ALL) {
            cases.add("cmtime", roles, FULL, 30, stage -> timesConnections(stage, roles));
            cases.add("rcopy", roles, QUICK, 30, stage -> copies(stage, roles));
        }
    }

    private static void addConnection(
            ExecCases cases, String name, boolean isQuick, String server, String client, Pair.Check check) {
        cases.addPairs(
                name,
                isQuick,
                Pair.of(CM, server.replace("%s", SERVER), client.replace("%s", SERVER))
                        .checked(check));
    }

    private static void addConnection(ExecCases cases, String name, boolean isQuick, String server, String client) {
        addConnection(cases, name, isQuick, server, client, (stage, s, c) -> {});
    }

    private static void addStream(ExecCases cases, String name, boolean isQuick, String tool, String options) {
        addConnection(cases, name, isQuick, tool + " " + options, tool + " -s %s " + options);
    }

    /** For datagram sockets, librdmacm creates address handles without a global route, which no RoCE device accepts. */
    private static void datagramSocketsAreRefused(ExecStage stage)
            throws CaseFailure, IOException, InterruptedException {
        Pair pair = Pair.of(Pair.UNKNOWN, "udpong -b " + SERVER, "udpong -s " + SERVER + " -S 64 -C 10");
        RunningProcess client = pair.start(stage, Roles.C_WITH_C).client();
        int status = client.awaitEnd();
        Stage.require(client.complains("^rconnect: "), "it ends with " + status + " instead of failing in rconnect");
    }

    /** The cmtime of rdma-core 44; its server runs until a signal. Newer ones, and Java's without --classic, have other options. */
    private static void timesConnections(ExecStage stage, Roles roles)
            throws CaseFailure, IOException, InterruptedException {
        Pair.Running running = Pair.of(
                        CM,
                        cmtime(roles.server()) + " -b " + SERVER,
                        cmtime(roles.client()) + " -s " + SERVER + " -c 20")
                .start(stage, roles);
        running.client().requireSuccess();
        running.server().end("INT");
        Stage.require(running.client().prints("^connect "), "it prints no times");
    }

    private static String cmtime(Roles.Language language) {
        return language == Roles.Language.JAVA ? "cmtime --classic" : "cmtime";
    }

    private static void copies(ExecStage stage, Roles roles) throws CaseFailure, IOException, InterruptedException {
        Path original = stage.randomFile("original", 300_000);
        Path copy = stage.file("copy");
        RunningProcess server = stage.start("server", Side.SERVER, stage.tool(roles.server(), "rcopy"));
        stage.awaitListener();
        stage.start("client", Side.CLIENT, stage.tool(roles.client(), "rcopy " + original + " " + SERVER + ":" + copy))
                .requireSuccess();
        server.end("INT");
        ExecStage.requireSame(original, copy, "the copy differs");
    }
}
