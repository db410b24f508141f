package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.PerftestTable;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Signals, processes that are killed, lost packets, and memory that is taken away. */
final class FaultCases {
    private static final long MOST_NOTICE_MILLIS = 1500;

    /** The exit status of {@code exit_early.c}. */
    private static final int EARLY_STATUS = 3;

    private FaultCases() {}

    static void define(ExecCases cases) {
        for (Side victim : List.of(Side.CLIENT, Side.SERVER)) {
            cases.add("fault/" + victim + "-is-killed", Roles.C_WITH_C, QUICK, 30, stage -> kill(stage, victim));
        }
        for (Side victim : List.of(Side.CLIENT, Side.SERVER)) {
            cases.add("fault/" + victim + "-exits", Roles.C_WITH_C, QUICK, 30, stage -> exit(stage, victim));
        }
        cases.add("fault/perftest-server-is-killed", Roles.C_WITH_C, FULL, 40, FaultCases::killPerftestServer);
        addWithOptions(cases, "fault/loss", QUICK, "--fault", "loss=3%,dup=2%,seed=7");
        addLossy(
                cases,
                "fault/loss-rping",
                Pair.of(Pair.CM, "rping -s -a " + SERVER + " -C 100 -V", "rping -c -a " + SERVER + " -C 100 -V"));
        String place = "-F -d rdma4j_eth0 -x " + ExecStage.GID_INDEX;
        addLossy(cases, "fault/loss-ib_send_bw", perftest("ib_send_bw " + place + " -n 1000 -c RC"));
        addLossy(cases, "fault/loss-ib_write_lat", perftest("ib_write_lat " + place + " -n 1000"));
        addWithOptions(cases, "option/--no-shared-memory", FULL, "--no-shared-memory");
        addWithOptions(cases, "option/--warm-up", FULL, "--warm-up");
        cases.add("signal/INT", QUICK, 20, stage -> signal(stage, "INT", 130));
        cases.add("signal/TERM", FULL, 20, stage -> signal(stage, "TERM", 143));
        cases.add("signal/PIPE", QUICK, 20, FaultCases::closePipe);
        cases.add("signal/SEGV", QUICK, 20, stage -> runStep(stage, "segv", 139));
        cases.add("process/fork", QUICK, 20, stage -> runStep(stage, "fork", 0));
        cases.add("process/system", FULL, 20, stage -> runStep(stage, "system", 0));
        cases.add("process/memory", QUICK, 40, FaultCases::takeMemoryAway);
        cases.add("machine/full-dev-shm", Roles.C_WITH_C, QUICK, 30, FaultCases::fillSharedMemory);
    }

    private static Pair perftest(String command) {
        return Pair.of(Pair.tcp(PerftestCases.PORT), command, command + " " + SERVER);
    }

    /** Another process on the victim's host reports the end of the victim to the remaining end, which ends. */
    private static void kill(ExecStage stage, Side victim) throws CaseFailure, IOException, InterruptedException {
        var _ = stage.start(
                "bystander",
                victim,
                stage.execWords(List.of(), ExecStage.words("rping -s -P -p 9999")),
                Duration.ofMinutes(1));
        stage.awaitRocePort(victim, "the other process does not start");
        Pair.Running running = Pair.of(
                        Pair.CM, "rping -s -a " + SERVER + " -C 0 -v", "rping -c -a " + SERVER + " -C 0 -v")
                .start(stage, Roles.C_WITH_C);
        Stage.await(Duration.ofSeconds(10), () -> hasPing(running), "no ping arrives");
        boolean isClient = victim == Side.CLIENT;
        RunningProcess killed = isClient ? running.client() : running.server();
        killed.signal("KILL");
        killed.awaitEnd();
        (isClient ? running.server() : running.client()).requireEnd();
    }

    private static boolean hasPing(Pair.Running running) {
        return running.client().prints("ping data") || running.server().prints("ping data");
    }

    /**
     * The only process of its address calls exit without closing anything. The remaining end is notified immediately, and ends.
     * The victim exits as soon as a ping has arrived, by a library that is preloaded.
     */
    private static void exit(ExecStage stage, Side victim) throws CaseFailure, IOException, InterruptedException {
        stage.compile(
                "exit_early.so",
                "-shared",
                "-fPIC",
                stage.source("lib/exit_early.c").toString(),
                "-pthread");
        RunningProcess server = startEnd(stage, Side.SERVER, victim, "rping -s -a " + SERVER + " -C 0 -v");
        stage.awaitListener();
        RunningProcess client = startEnd(stage, Side.CLIENT, victim, "rping -c -a " + SERVER + " -C 0 -v");
        RunningProcess ended = victim == Side.CLIENT ? client : server;
        RunningProcess other = victim == Side.CLIENT ? server : client;
        ended.requireStatus(EARLY_STATUS);
        long begin = System.nanoTime();
        Stage.require(ended.err().isEmpty(), "the " + victim + " writes to standard error");
        Stage.require(hasPing(new Pair.Running(server, client)), "no ping arrived");
        other.requireEnd();
        long millis = (System.nanoTime() - begin) / 1_000_000;
        stage.stage.remark("the " + victim.other() + " ends after " + millis + " ms");
        Stage.require(millis < MOST_NOTICE_MILLIS, "the " + victim.other() + " ends late");
    }

    private static RunningProcess startEnd(ExecStage stage, Side side, Side victim, String command) throws IOException {
        String library = side == victim ? stage.file("exit_early.so").toString() : "";
        List<String> words = new ArrayList<>(
                List.of("sh", "-c", "LD_PRELOAD=\"$LD_PRELOAD $1\"; shift; exec \"$@\"", "sh", library));
        words.addAll(ExecStage.words(command));
        return stage.execWith(List.of(), side.toString(), side, words);
    }

    private static void killPerftestServer(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        Pair.Running running = perftest("ib_write_bw -F -d rdma4j_eth0 -x " + ExecStage.GID_INDEX + " -D 20")
                .start(stage, Roles.C_WITH_C);
        Thread.sleep(Duration.ofSeconds(3));
        running.server().signal("KILL");
        running.server().awaitEnd();
        int status = running.client().awaitEnd();
        Stage.require(
                status != 0 && status != RunningProcess.EXCEEDED && status != RunningProcess.KILLED,
                "the client ended with " + status);
    }

    /** rping with options of rdma4j exec on both sides. */
    private static void addWithOptions(ExecCases cases, String name, boolean isQuick, String... options) {
        cases.add(name, Roles.C_WITH_C, isQuick, 30, stage -> {
            RunningProcess server = stage.execWith(
                    List.of(options), "server", Side.SERVER, ExecStage.words("rping -s -a " + SERVER + " -C 30 -V"));
            stage.awaitListener();
            stage.execWith(
                            List.of(options),
                            "client",
                            Side.CLIENT,
                            ExecStage.words("rping -c -a " + SERVER + " -C 30 -V"))
                    .requireSuccess();
            server.requireSuccess();
        });
    }

    /** Each side drops one percent of the packets in each direction. */
    private static void addLossy(ExecCases cases, String name, Pair pair) {
        int limitSeconds = 60;
        cases.add(name, Roles.C_WITH_C, QUICK, limitSeconds, stage -> {
            RunningProcess server = stage.execWith(
                    List.of("--no-warm-up", "--fault", "loss=1%,seed=5"),
                    "server",
                    Side.SERVER,
                    ExecStage.words(pair.server()));
            Pair.awaitReady(stage, pair.ready());
            RunningProcess client = stage.execWith(
                    List.of("--no-warm-up", "--fault", "loss=1%,seed=6"),
                    "client",
                    Side.CLIENT,
                    ExecStage.words(pair.client()));
            ExecStage.requireSuccess(client);
            ExecStage.requireSuccess(server);
            if (pair.client().startsWith("ib_")) {
                stage.stage.remark(PerftestTable.figure(client));
            }
        });
    }

    private static void signal(ExecStage stage, String signal, int status)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess program = stage.exec("program", Side.SERVER, "rping", "-s", "-a", SERVER, "-P");
        stage.awaitRocePort(Side.SERVER, "it does not open the device");
        Thread.sleep(Duration.ofMillis(500));
        program.signal(signal);
        program.requireStatus(status);
    }

    /** The reader has ended by the time the program writes. */
    private static void closePipe(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        compileSteps(stage);
        List<String> words = new ArrayList<>(List.of("bash", "-c", "\"$@\" > >(exec 0<&-; :); exit $?", "bash"));
        words.addAll(stage.execWords(List.of(), List.of(stage.file("process").toString(), "pipe")));
        stage.start("program", Side.SERVER, words).requireStatus(141);
    }

    private static void compileSteps(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        stage.compile("process", stage.source("lib/process.c").toString(), library(stage));
    }

    /** Returns the library that {@code rdma4j exec} puts before that of the system. */
    private static String library(ExecStage stage) throws CaseFailure, InterruptedException {
        String variable = "export LD_LIBRARY_PATH='";
        return ExecStage.requireRun("there is no library", List.of(stage.launcher(), "exec", "--print"))
                .lines()
                .filter(line -> line.startsWith(variable))
                .map(line -> line.substring(variable.length()).split("[:']", -1)[0] + "/libibverbs.so.1")
                .findFirst()
                .orElseThrow(() -> new CaseFailure("rdma4j exec --print prints no library path"));
    }

    private static void runStep(ExecStage stage, String step, int status)
            throws CaseFailure, IOException, InterruptedException {
        compileSteps(stage);
        RunningProcess program =
                stage.exec("program", Side.SERVER, stage.file("process").toString(), step);
        program.requireStatus(status);
        try (Stream<Path> files = Files.list(Path.of("/"))) {
            for (Path file : files.filter(each -> each.getFileName().toString().startsWith("hs_err"))
                    .toList()) {
                Stage.require(
                        Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(stage.file("process"))) < 0,
                        "the virtual machine has written a crash report");
            }
        }
    }

    /** Memory is unmapped, freed or protected while it is registered. */
    private static void takeMemoryAway(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        stage.compile(
                "memory",
                "-std=gnu11",
                "-I",
                stage.source("native").toString(),
                stage.source("native/test/memory.c").toString(),
                library(stage),
                "-pthread");
        ExecStage.requireSentence(
                stage.exec("program", Side.SERVER, stage.file("memory").toString(), "rdma4j_eth0"), 0, "");
    }

    private static void fillSharedMemory(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        stage.mounts("mount -t tmpfs -o size=4k none /dev/shm"
                + " && { head -c 100000 /dev/zero >/dev/shm/full; true; } 2>/dev/null");
        Pair.of(Pair.CM, "rping -s -a " + SERVER + " -C 30 -V", "rping -c -a " + SERVER + " -C 30 -V")
                .onOneHost()
                .run(stage, Roles.C_WITH_C);
    }
}
