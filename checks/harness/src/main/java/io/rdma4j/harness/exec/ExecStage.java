package io.rdma4j.harness.exec;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.Launcher;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A stage on two hosts, where programs run by {@code rdma4j exec} as an ordinary user. */
final class ExecStage {
    /** The index of the GID of the IPv4 address. */
    static final int GID_INDEX = 1;

    /** The index of the GID of the IPv6 address that is not link-local. */
    static final int IPV6_GID_INDEX = 2;

    /** Lines that Java and the library write to standard error only if something is wrong. */
    private static final String COMPLAINT =
            "^(rdma4j|WARNING|Exception|Caused by|Error occurred|OpenJDK|#)|\\bat io\\.rdma4j|^\\[warning";

    private static final Duration START_LIMIT = Duration.ofSeconds(15);

    final Stage stage;
    final ExecHosts hosts;
    private final Path home;
    private String mounts = "";

    ExecStage(Stage stage, ExecHosts hosts, Path home) {
        this.stage = stage;
        this.hosts = hosts;
        this.home = home;
    }

    /** Sets a shell command that changes the mounts of later processes. */
    void mounts(String command) {
        mounts = command;
    }

    // ---- files

    /** Returns a file of the case. */
    Path file(String name) {
        return stage.folder().resolve(name);
    }

    /** Returns a file of the folder {@code apps/exec}. */
    Path source(String name) {
        return home.resolve("apps/exec").resolve(name);
    }

    /** Returns the launcher, which the environment may replace. */
    String launcher() {
        return new Launcher(home).command();
    }

    /** Compiles a C program into a file of the case. */
    void compile(String output, String... words) throws CaseFailure, IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("cc", "-O1", "-o", file(output).toString()));
        command.addAll(List.of(words));
        requireRun("cannot compile", command);
    }

    /** Runs a program as root, and fails with a reason if it fails. */
    static String requireRun(String reason, List<String> command) throws CaseFailure, InterruptedException {
        try {
            return Command.run(command);
        } catch (IOException failed) {
            throw new CaseFailure(reason + ": " + failed.getMessage());
        }
    }

    /** Writes random bytes to a file of the case, which every user can read. */
    Path randomFile(String name, int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new SplittableRandom(bytes).nextBytes(content);
        return Files.write(file(name), content);
    }

    static void requireSame(Path one, Path other, String reason) throws CaseFailure, IOException {
        Stage.require(Files.exists(other) && Files.mismatch(one, other) < 0, reason);
    }

    // ---- processes

    /** Starts a command. */
    RunningProcess start(String label, Side side, List<String> words) throws IOException {
        return start(label, side, words, stage.limit());
    }

    RunningProcess start(String label, Side side, List<String> words, Duration limit) throws IOException {
        return stage.start(label, hosts.asUser(side, mounts), words, limit);
    }

    /** Starts a program by {@code rdma4j exec}. */
    RunningProcess exec(String label, Side side, String... command) throws IOException {
        return start(label, side, execWords(List.of(), List.of(command)));
    }

    /** Starts a program by {@code rdma4j exec} with options. */
    RunningProcess execWith(List<String> options, String label, Side side, List<String> command) throws IOException {
        return start(label, side, execWords(options, command));
    }

    /** Returns the words of a program by {@code rdma4j exec} with options. */
    List<String> execWords(List<String> options, List<String> command) {
        List<String> words = new ArrayList<>(List.of(launcher(), "exec"));
        words.addAll(options);
        words.add("--");
        words.addAll(command);
        return words;
    }

    /** Splits a command at its blanks. */
    static List<String> words(String command) {
        return List.of(command.strip().split(" +", -1));
    }

    /** Returns the words of a tool in C or Java. Those that measure would warm up for three seconds. */
    List<String> tool(Roles.Language language, String command) {
        if (language == Roles.Language.C) {
            return execWords(List.of("--no-warm-up"), words(command));
        }
        List<String> words = new ArrayList<>(List.of(launcher()));
        words.addAll(words(command));
        if (command.startsWith("ib_")) {
            words.add("--no-warm-up");
        }
        return words;
    }

    /** Runs a command on a host until it ends, and fails with a reason if it fails. */
    String run(String reason, Side side, List<String> words) throws CaseFailure, InterruptedException {
        List<String> command = new ArrayList<>(hosts.asUser(side, mounts));
        command.addAll(words);
        return requireRun(reason, command);
    }

    // ---- expectations

    /** Waits until a host has a process that uses the connection manager. */
    void awaitRocePort(Side side, String reason) throws CaseFailure, IOException, InterruptedException {
        Stage.await(START_LIMIT, () -> !hosts.holdersOfRocePort(side).isEmpty(), reason);
    }

    /** Waits until a server listens with the connection manager. */
    void awaitListener() throws CaseFailure, IOException, InterruptedException {
        awaitRocePort(Side.SERVER, "the server does not bind UDP port 4791");
        Thread.sleep(Duration.ofMillis(500)); // a listener of the connection manager cannot be seen from outside
    }

    /** Waits until a server listens on a TCP port. */
    void awaitTcpListener(int port) throws CaseFailure, IOException, InterruptedException {
        Stage.await(
                START_LIMIT,
                () -> hosts.listensOnTcp(Side.SERVER, port),
                "the server does not listen on TCP port " + port);
    }

    /** Checks that Java and the library have written nothing to standard error. */
    static void requireNoComplaint(RunningProcess ended) throws CaseFailure {
        if (ended.complains(COMPLAINT)) {
            throw new CaseFailure("the " + ended.label() + " reports: "
                    + ended.err()
                            .lines()
                            .filter(line -> line.matches(".*(rdma4j|WARNING|Exception).*"))
                            .findFirst()
                            .orElse(ended.err()));
        }
    }

    /** Waits for a process to end with status 0, without a complaint. */
    static RunningProcess requireSuccess(RunningProcess process) throws CaseFailure, InterruptedException {
        process.requireSuccess();
        requireNoComplaint(process);
        return process;
    }

    /** Waits for a process to end with a status, after exactly one line on standard error; none for an empty text. */
    static void requireSentence(RunningProcess process, int status, String text)
            throws CaseFailure, InterruptedException {
        process.requireStatus(status);
        String err = process.err();
        if (text.isEmpty()) {
            Stage.require(err.isEmpty(), "it writes to standard error");
            return;
        }
        Stage.require(err.lines().count() == 1, "it does not print exactly one sentence");
        Stage.require(err.contains(text), "it does not print '" + text + "'");
    }
}
