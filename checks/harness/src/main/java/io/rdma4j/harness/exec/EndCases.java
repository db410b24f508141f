package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;
import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A server with idle connections ends, in every way in which a process can end. Its clients, one in C and one in Java, have to be
 * notified within a second. The programs are {@code ends.c} and {@code Ends.java}.
 */
final class EndCases {
    private static final int LIMIT_SECONDS = 60;
    private static final long MOST_NOTICE_MILLIS = 1000;
    private static final Pattern DISCONNECTED = Pattern.compile("DISCONNECTED (\\d+)");
    private static final Pattern LISTENING = Pattern.compile("listening (\\d+)");

    /** How the server runs. */
    private enum Kind {
        EXEC,
        EXEC_WITHOUT_GUARDIAN,
        JAVA
    }

    private EndCases() {}

    static void define(ExecCases cases) {
        for (String way : List.of("KILL", "TERM", "SEGV", "exit", "_exit", "return", "abort", "exec", "fork")) {
            add(cases, way, "", QUICK, 1);
        }
        for (String way : List.of("KILL", "TERM", "SEGV", "exit", "_exit")) {
            add(cases, way, "-100-times", FULL, 100);
        }
        cases.add(
                "end/KILL-without-guardian",
                Roles.C_WITH_C,
                QUICK,
                LIMIT_SECONDS,
                EndCases::peersAreNotNotifiedWithoutGuardian);
        for (String way : List.of("KILL", "fault", "halt")) {
            addWithGuardian(cases, way, "", QUICK, 1);
        }
        for (String way : List.of("KILL", "fault", "halt")) {
            addWithGuardian(cases, way, "-100-times", FULL, 100);
        }
        cases.add("end/guardian-starts-late", Roles.C_WITH_JAVA, QUICK, LIMIT_SECONDS, EndCases::guardianStartsLate);
    }

    private static void add(ExecCases cases, String way, String suffix, boolean isQuick, int times) {
        cases.add("end/" + way + suffix, Roles.C_WITH_C, isQuick, LIMIT_SECONDS, stage -> {
            compile(stage);
            endRepeatedly(stage, Kind.EXEC, way, times);
        });
    }

    private static void addWithGuardian(ExecCases cases, String way, String suffix, boolean isQuick, int times) {
        cases.add("end/" + way + "-with-guardian" + suffix, Roles.C_WITH_JAVA, isQuick, LIMIT_SECONDS, stage -> {
            RunningProcess guardian = startGuardian(stage);
            String report = stage.run("doctor fails", Side.SERVER, List.of(stage.launcher(), "doctor"));
            Stage.require(report.contains("\nguardian  runs"), "doctor does not see the guardian");
            compile(stage);
            endRepeatedly(stage, Kind.JAVA, way, times);
            guardian.end("TERM");
        });
    }

    private static RunningProcess startGuardian(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        RunningProcess guardian =
                stage.start("guardian", Side.SERVER, List.of(stage.launcher(), "guardian"), Duration.ofHours(1));
        Stage.await(Duration.ofSeconds(20), () -> guardian.prints("watching"), "the guardian does not start");
        return guardian;
    }

    private static void compile(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        stage.compile("ends", stage.source("lib/ends.c").toString(), "-lrdmacm", "-libverbs", "-pthread");
        Files.createDirectories(stage.file("classes"));
        ExecStage.requireRun(
                "cannot compile",
                List.of(
                        java(stage, "javac"),
                        "-nowarn",
                        "-XDignore.symbol.file",
                        "-d",
                        stage.file("classes").toString(),
                        "--module-path",
                        modulePath(stage),
                        "--add-modules",
                        "io.rdma4j.cm",
                        stage.source("lib/Ends.java").toString()));
    }

    private static String java(ExecStage stage, String program) throws CaseFailure, InterruptedException {
        return ExecStage.requireRun("there is no JDK", List.of(stage.launcher(), "--java-home"))
                        .strip() + "/bin/" + program;
    }

    private static String modulePath(ExecStage stage) throws CaseFailure, InterruptedException {
        return ExecStage.requireRun("there is no build", List.of(stage.launcher(), "--module-path"))
                .strip();
    }

    private static List<String> ends(ExecStage stage, Kind kind, String... words)
            throws CaseFailure, InterruptedException {
        List<String> arguments = List.of(words);
        if (kind != Kind.JAVA) {
            List<String> program = new ArrayList<>(List.of(stage.file("ends").toString()));
            program.addAll(arguments);
            return stage.execWords(kind == Kind.EXEC ? List.of() : List.of("--no-guardian"), program);
        }
        List<String> command = new ArrayList<>(List.of(
                java(stage, "java"),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:ErrorFile=/dev/null",
                "--enable-native-access=io.rdma4j.link",
                "--module-path",
                modulePath(stage),
                "--add-modules",
                "io.rdma4j.cm,io.rdma4j.soft",
                "-cp",
                stage.file("classes").toString(),
                "Ends"));
        command.addAll(arguments);
        return command;
    }

    /** A server and its two clients, which are connected. */
    private record Connected(RunningProcess server, RunningProcess client, RunningProcess javaClient, long serverPid) {
        List<RunningProcess> clients() {
            return List.of(client, javaClient);
        }
    }

    private static Connected connect(ExecStage stage, Kind kind, String way)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = stage.start("server", Side.SERVER, ends(stage, kind, "server", "2", way));
        Stage.await(Duration.ofSeconds(30), () -> server.prints("listening"), "the server does not listen");
        RunningProcess client = stage.start("client", Side.CLIENT, ends(stage, Kind.EXEC, "client", SERVER));
        RunningProcess javaClient = stage.start("java-client", Side.CLIENT, ends(stage, Kind.JAVA, "client", SERVER));
        Stage.await(Duration.ofSeconds(30), () -> server.prints("connected"), "the clients do not connect");
        for (RunningProcess each : List.of(client, javaClient)) {
            Stage.await(
                    Duration.ofSeconds(10),
                    () -> each.prints("ESTABLISHED"),
                    "the " + each.label() + " is not connected");
        }
        return new Connected(server, client, javaClient, Long.parseLong(group(LISTENING, server.out())));
    }

    private static String group(Pattern pattern, String text) throws CaseFailure {
        return pattern.matcher(text)
                .results()
                .map(MatchResult::group)
                .map(match -> match.replaceAll("\\D+", ""))
                .findFirst()
                .orElseThrow(() -> new CaseFailure("no '" + pattern + "' in the output"));
    }

    /** Lets the server end. It ends in its own way when it receives SIGUSR1. */
    private static void end(Connected connected, String way) throws IOException, InterruptedException {
        String signal = switch (way) {
            case "KILL", "TERM" -> way;
            case "fork" -> "KILL";
            case "halt" -> "USR2";
            case "fault" -> "SEGV";
            default -> "USR1";
        };
        RunningProcess.signal(connected.serverPid(), signal);
    }

    /** Requires that both clients are notified within a second, and returns the longer time in milliseconds. */
    private static long requireNotice(Connected connected, long beginMillis)
            throws CaseFailure, IOException, InterruptedException {
        long latest = 0;
        for (RunningProcess client : connected.clients()) {
            Stage.await(
                    Duration.ofSeconds(5),
                    () -> client.prints("DISCONNECTED"),
                    "the " + client.label() + " is not notified of the end");
            long millis = Long.parseLong(group(DISCONNECTED, client.out())) - beginMillis;
            Stage.require(
                    millis < MOST_NOTICE_MILLIS, "the " + client.label() + " is notified after " + millis + " ms");
            latest = Math.max(latest, millis);
            client.awaitEnd();
        }
        return latest;
    }

    private static void endRepeatedly(ExecStage stage, Kind kind, String way, int times)
            throws CaseFailure, IOException, InterruptedException {
        long latest = 0;
        for (int i = 0; i < times; i++) {
            Connected connected = connect(stage, kind, way);
            long begin = System.currentTimeMillis();
            end(connected, way);
            latest = Math.max(latest, requireNotice(connected, begin));
            if (kind == Kind.EXEC) {
                String guardian = "rdma4j-guardian " + connected.serverPid() + " ";
                Stage.await(Duration.ofSeconds(5), () -> !isRunning(guardian), "the guardian does not end");
            }
            connected.server().end("KILL");
        }
        stage.stage.remark(String.format(Locale.ROOT, "the peers are notified within %d ms", latest));
    }

    private static boolean isRunning(String commandLine) {
        return ProcessHandle.allProcesses()
                .anyMatch(process -> process.info().commandLine().orElse("").startsWith(commandLine));
    }

    /** Nobody else has the address: the peers only have their own timeouts. */
    private static void peersAreNotNotifiedWithoutGuardian(ExecStage stage)
            throws CaseFailure, IOException, InterruptedException {
        compile(stage);
        Connected connected = connect(stage, Kind.EXEC_WITHOUT_GUARDIAN, "KILL");
        end(connected, "KILL");
        Thread.sleep(Duration.ofSeconds(3));
        for (RunningProcess client : connected.clients()) {
            Stage.require(!client.prints("DISCONNECTED"), "the " + client.label() + " is notified of the end");
        }
        if (!Stage.holdsWithin(
                Duration.ofSeconds(10),
                () -> stage.hosts.holdersOfRocePort(Side.SERVER).isEmpty())) {
            throw new CaseFailure("UDP port 4791 is held: " + stage.hosts.holdersOfRocePort(Side.SERVER));
        }
    }

    private static void guardianStartsLate(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        compile(stage);
        Connected connected = connect(stage, Kind.JAVA, "KILL");
        var _ = startGuardian(stage);
        Thread.sleep(Duration.ofSeconds(2));
        long begin = System.currentTimeMillis();
        end(connected, "KILL");
        var _ = requireNotice(connected, begin);
    }
}
