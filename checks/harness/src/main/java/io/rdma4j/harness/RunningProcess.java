package io.rdma4j.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A process of a case, with its output in files. Its command ends with {@code timeout}, whose child is the program itself. Used by
 * one thread.
 */
public final class RunningProcess {
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
    public String label() {
        return label;
    }

    /** Returns the command without what the stage puts before it. */
    String words() {
        return words;
    }

    /** Returns the exit status, or null if the process was not waited for. */
    @Nullable
    Integer status() {
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
        int ended = process.waitFor();
        status = ended;
        return ended;
    }

    /**
     * Waits for the process to end with status 0.
     *
     * @throws CaseFailure if it ends with another status
     */
    public RunningProcess requireSuccess() throws CaseFailure, InterruptedException {
        return requireStatus(0);
    }

    /**
     * Waits for the process to end with a status.
     *
     * @throws CaseFailure if it ends with another status
     */
    public RunningProcess requireStatus(int expected) throws CaseFailure, InterruptedException {
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
    public void requireEnd() throws CaseFailure, InterruptedException {
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
    public RunningProcess requireLines(int count, String regex) throws CaseFailure {
        Pattern pattern = Pattern.compile(regex);
        long found = out().lines().filter(line -> pattern.matcher(line).find()).count();
        if (found != count) {
            throw new CaseFailure(
                    "the " + label + " prints " + found + " lines of '" + regex + "' instead of " + count);
        }
        return this;
    }

    /** Returns whether a line of standard output contains a match. */
    public boolean prints(String regex) {
        Pattern pattern = Pattern.compile(regex);
        return out().lines().anyMatch(line -> pattern.matcher(line).find());
    }

    /** Returns whether a line of standard error contains a match. */
    public boolean complains(String regex) {
        Pattern pattern = Pattern.compile(regex);
        return err().lines().anyMatch(line -> pattern.matcher(line).find());
    }

    /** Returns the process ID of the program itself: the last of a chain of children. */
    public long programPid() {
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
