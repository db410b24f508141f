package io.rdma4j.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A process of a case, with its output in files. Its command ends with {@code timeout}, whose child is the program itself. Used by
 * one thread.
 */
public class RunningProcess {
    /** The status of a process that has exceeded its limit. */
    public static final int EXCEEDED = 124;

    /** The status of a process that was killed by SIGKILL. */
    public static final int KILLED = 137;

    private final String label;
    private final String words;
    private final Process process;
    private final Path out;
    private final Path err;
    private @Nullable Integer status;

    RunningProcess(String label, String words, Process process, Path out, Path err) {
        this.label = label;
        this.words = words;
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** Returns the name of the process in messages and files. */
    public final String label() {
        return label;
    }

    /** Returns the command without what the stage puts before it. */
    final String words() {
        return words;
    }

    /** Returns the exit status, or null if the process was not waited for. */
    @Nullable
    final Integer status() {
        return status;
    }

    /** Returns the standard output that the process has written so far. */
    public String out() {
        return text(out);
    }

    /** Returns the standard error that the process has written so far. */
    public String err() {
        return text(err);
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1); // programs print any bytes
        } catch (IOException e) {
            return "";
        }
    }

    /** Waits for the process to end, and returns its status: {@link #EXCEEDED} if it has exceeded its limit. */
    public int awaitEnd() throws InterruptedException {
        return ended(process.waitFor());
    }

    private int ended(int value) {
        if (status == null) {
            status = value;
            try {
                collect();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return value;
    }

    /** Moves the output of a process that has ended to its files. */
    void collect() throws IOException {}

    /** Returns whether the process has ended. */
    public final boolean hasEnded() throws InterruptedException {
        return endsWithin(Duration.ZERO);
    }

    /** Waits for the process to end, and returns false if it does not in time. */
    public final boolean endsWithin(Duration most) throws InterruptedException {
        if (status == null && process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS)) {
            var _ = ended(process.exitValue());
        }
        return status != null;
    }

    /**
     * Waits for the process to end with status 0.
     *
     * @throws CaseFailure if it ends with another status
     */
    public final RunningProcess requireSuccess() throws CaseFailure, InterruptedException {
        return requireStatus(0);
    }

    /**
     * Waits for the process to end with a status.
     *
     * @throws CaseFailure if it ends with another status
     */
    public final RunningProcess requireStatus(int expected) throws CaseFailure, InterruptedException {
        int ended = awaitEnd();
        if (ended != expected) {
            throw new CaseFailure(
                    "the " + label + " ended with " + ended + (expected == 0 ? "" : " instead of " + expected));
        }
        return this;
    }

    /**
     * Waits for the process to end by itself, with any status.
     *
     * @throws CaseFailure if it exceeds its limit
     */
    public final void requireEnd() throws CaseFailure, InterruptedException {
        int ended = awaitEnd();
        if (ended == EXCEEDED || ended == KILLED) {
            throw new CaseFailure("the " + label + " does not end");
        }
    }

    /**
     * Checks the number of lines of standard output that contain a match.
     *
     * @throws CaseFailure if it differs
     */
    public final RunningProcess requireLines(int count, String regex) throws CaseFailure {
        Pattern pattern = Pattern.compile(regex);
        long found = out().lines().filter(line -> pattern.matcher(line).find()).count();
        if (found != count) {
            throw new CaseFailure(
                    "the " + label + " prints " + found + " lines of '" + regex + "' instead of " + count);
        }
        return this;
    }

    /**
     * Checks that a line of standard output contains a match.
     *
     * @throws CaseFailure if none does
     */
    public final RunningProcess requirePrints(String regex) throws CaseFailure {
        return require(prints(regex), regex);
    }

    /**
     * Checks that a line of standard error contains a match.
     *
     * @throws CaseFailure if none does
     */
    public final RunningProcess requireComplains(String regex) throws CaseFailure {
        return require(complains(regex), regex);
    }

    private RunningProcess require(boolean isPrinted, String regex) throws CaseFailure {
        if (!isPrinted) {
            throw new CaseFailure("the " + label + " does not print '" + regex + "'");
        }
        return this;
    }

    /** Returns whether a line of standard output contains a match. */
    public final boolean prints(String regex) {
        Pattern pattern = Pattern.compile(regex);
        return out().lines().anyMatch(line -> pattern.matcher(line).find());
    }

    /** Returns whether a line of standard error contains a match. */
    public final boolean complains(String regex) {
        Pattern pattern = Pattern.compile(regex);
        return err().lines().anyMatch(line -> pattern.matcher(line).find());
    }

    /** Returns the IDs of the process on this host and of all processes that it has started. */
    public final List<Long> pids() {
        return Stream.concat(Stream.of(process.toHandle()), process.descendants())
                .map(ProcessHandle::pid)
                .toList();
    }

    /** Kills the process that was started, and not those that it has started. */
    final void kill() {
        process.destroyForcibly();
    }

    /** Returns the process ID of the program itself: the last of a chain of children. */
    public final long programPid() {
        ProcessHandle last = process.toHandle();
        for (List<ProcessHandle> children = last.children().toList();
                !children.isEmpty();
                children = last.children().toList()) {
            last = children.getFirst();
        }
        return last.pid();
    }

    /** Sends a signal, such as {@code TERM}, to the program itself. */
    public void signal(String signal) throws IOException, InterruptedException {
        signal(programPid(), signal);
    }

    /** Sends a signal to a process; does nothing if it has ended. */
    public static void signal(long pid, String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-s", signal, Long.toString(pid))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    /** Ends the process and all processes that it has started by a signal, and waits for it. Does nothing if it has ended. */
    public void end(String signal) throws IOException, InterruptedException {
        if (status != null) {
            return;
        }
        List<ProcessHandle> descendants = process.descendants().toList().reversed();
        for (ProcessHandle each : descendants) {
            signal(each.pid(), signal);
        }
        signal(process.pid(), signal);
        awaitEnd();
    }
}
