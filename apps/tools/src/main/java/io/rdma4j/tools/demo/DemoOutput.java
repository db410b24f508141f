package io.rdma4j.tools.demo;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolProcess;
import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The output of the demonstration, which also tracks its time limit. Thread safe. */
final class DemoOutput implements AutoCloseable {
    private static final String SERVER_COLOUR = "\u001b[36m";
    private static final String CLIENT_COLOUR = "\u001b[33m";
    private static final String PLAIN = "\u001b[0m";
    /** Lines of large pings are truncated to this length. */
    private static final int LINE_LIMIT = 110;

    private final PrintStream out;
    private final boolean colours =
            Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    private final long deadlineNanos;
    private final List<ToolProcess> processes = new ArrayList<>();
    private volatile boolean interrupted;

    /** Creates the output of a demonstration with a time limit. */
    DemoOutput(ToolEnvironment environment, Duration limit) {
        out = environment.out();
        deadlineNanos = System.nanoTime() + limit.toNanos();
    }

    /** Prints a line of the demonstration itself. */
    void print(String line) {
        synchronized (out) {
            if (!interrupted) {
                out.println(line);
            }
        }
    }

    /** Prints a line of one of the processes. */
    void line(String role, String line) {
        String shown = line.length() > LINE_LIMIT ? line.substring(0, LINE_LIMIT) + "..." : line;
        if (colours) {
            print("   " + (role.equals("server") ? SERVER_COLOUR : CLIENT_COLOUR) + role + PLAIN + " | " + shown);
        } else {
            print("   " + role + " | " + shown);
        }
    }

    /**
     * Starts a tool in a separate process, which ends with the demonstration.
     *
     * @param onOutput receives the lines of its standard output
     * @param onError receives the lines of its standard error
     */
    ToolProcess start(List<String> words, Consumer<String> onOutput, Consumer<String> onError) {
        synchronized (processes) {
            ToolProcess process = ToolProcess.start(words, onOutput, onError);
            processes.add(process);
            if (interrupted) {
                process.kill();
            }
            return process;
        }
    }

    /** Kills the processes and suppresses further output, because a signal ends this process. */
    void interrupt() {
        interrupted = true;
        synchronized (processes) {
            processes.forEach(ToolProcess::kill);
        }
    }

    boolean isInterrupted() {
        return interrupted;
    }

    /** Returns whether the time limit has not been reached. */
    boolean hasTime() {
        return !interrupted && deadlineNanos - System.nanoTime() > 0;
    }

    /** Returns the remaining time in seconds, at least one. */
    long remainingSeconds() {
        return Math.max(1, TimeUnit.NANOSECONDS.toSeconds(deadlineNanos - System.nanoTime()));
    }

    @Override
    public void close() {
        out.flush();
    }
}
