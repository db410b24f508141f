package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The environment of a case: a folder, processes, and remarks for the table. Used by the thread of the run. */
public final class Stage {
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final int LAST_LINES = 6;
    private static final int LINE_LENGTH = 160;

    private final Path folder;
    private final Duration limit;
    private final List<RunningProcess> processes = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();
    private String lastSignal = "TERM";

    /** Creates a stage with an empty folder, in which any user can create files. */
    public Stage(Path folder, Duration limit) throws IOException {
        this.folder = Files.createDirectories(folder);
        this.limit = limit;
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    /** Returns the folder for files of the case, which any user can write to. */
    public Path folder() {
        return folder;
    }

    /** Returns the maximum time of a process. */
    public Duration limit() {
        return limit;
    }

    /** Sets the signal for later processes that exceed the limit. A program that catches it can still print. */
    public void endBy(String signal) {
        lastSignal = signal;
    }

    /** Adds a remark for the table, such as a figure. */
    public void remark(String remark) {
        remarks.add(remark);
    }

    /** Starts a process with the limit of the case. */
    public RunningProcess start(String label, List<String> prefix, List<String> words) throws IOException {
        return start(label, prefix, words, limit);
    }

    /**
     * Starts a process, without input.
     *
     * @param label its name; a later process of the same name replaces its files
     * @param prefix the words before the command, such as those that run it on a host
     * @param words the command
     * @param most the time after which the process is ended
     */
    public RunningProcess start(String label, List<String> prefix, List<String> words, Duration most)
            throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(timeout(most));
        command.addAll(words);
        Path out = folder.resolve(label + ".out");
        Path err = folder.resolve(label + ".err");
        Process process = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        RunningProcess running = new RunningProcess(label, String.join(" ", words), process, out, err);
        processes.add(running);
        return running;
    }

    /** Starts a process with the limit of the case in a guest. */
    public RunningProcess start(String label, Guest guest, List<String> words) throws IOException {
        GuestProcess running = GuestProcess.start(label, guest, timeout(limit), limit, words, folder);
        processes.add(running);
        return running;
    }

    private List<String> timeout(Duration most) {
        return List.of("timeout", "-s", lastSignal, "-k", "3", Long.toString(most.toSeconds()));
    }

    /** A condition that a case waits for. */
    @FunctionalInterface
    public interface Condition {
        /** Returns whether the condition holds. */
        boolean holds() throws IOException, InterruptedException;
    }

    /**
     * Waits until a condition holds.
     *
     * @throws CaseFailure with a reason if it does not hold in time
     */
    public static void await(Duration most, Condition condition, String reason)
            throws CaseFailure, IOException, InterruptedException {
        if (!holdsWithin(most, condition)) {
            throw new CaseFailure(reason);
        }
    }

    /** Waits until a condition holds, and returns false if it does not in time. */
    public static boolean holdsWithin(Duration most, Condition condition) throws IOException, InterruptedException {
        return holdsWithin(most, PAUSE, condition);
    }

    /** Waits until a condition holds, with a pause after each attempt, and returns false if it does not in time. */
    public static boolean holdsWithin(Duration most, Duration pause, Condition condition)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + most.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() - deadline >= 0) {
                return false;
            }
            Thread.sleep(pause);
        }
        return true;
    }

    /** Checks a condition. */
    public static void require(boolean condition, String reason) throws CaseFailure {
        if (!condition) {
            throw new CaseFailure(reason);
        }
    }

    /** Ends all processes. */
    public void endAll() throws IOException, InterruptedException {
        for (RunningProcess each : processes) {
            each.end("KILL");
        }
    }

    List<String> remarks() {
        return remarks;
    }

    /** Returns the command and the last lines of output of each process, for a case that has failed. */
    String explanation() {
        StringBuilder text = new StringBuilder();
        for (RunningProcess each : processes) {
            text.append("    $ ")
                    .append(each.words())
                    .append("    # ended with ")
                    .append(each.status())
                    .append('\n');
            for (String output : List.of(each.out(), each.err())) {
                List<String> lines = output.lines().toList();
                lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size())
                        .forEach(line ->
                                text.append("        ").append(shortened(line)).append('\n'));
            }
        }
        return text.toString();
    }

    private static String shortened(String line) {
        return line.length() > LINE_LENGTH ? line.substring(0, LINE_LENGTH) : line;
    }

    /** Removes the folder. */
    void delete() {
        Folders.delete(folder);
    }
}
