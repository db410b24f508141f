package io.rdma4j.tools.demo;

import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.ToolProcess;
import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Prints the demonstration, and keeps its time. Thread safe. */
final class DemoOutput implements AutoCloseable {
    private static final String SERVER_COLOUR = "\u001b[36m";
    private static final String CLIENT_COLOUR = "\u001b[33m";
    private static final String PLAIN = "\u001b[0m";
    /** Lines of a large ping are cut to what fits. */
    private static final int LINE_LIMIT = 110;

    private final PrintStream out;
    private final boolean colours =
            Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    private final long deadlineNanos;
    private final List<ToolProcess> processes = new ArrayList<>();
    private volatile boolean interrupted;

    /** Prepares a demonstration that may take so long. */
    DemoOutput(ToolEnvironment environment, Duration limit) {
        out = environment.out();
        deadlineNanos = System.nanoTime() + limit.toNanos();
    }

    /** A line of our own. */
    void say(String line) {
        synchronized (out) {
            if (!interrupted) {
                out.println(line);
            }
        }
    }

    /** A line of one of the processes. */
    void line(String who, String line) {
        String shown = line.length() > LINE_LIMIT ? line.substring(0, LINE_LIMIT) + "..." : line;
        if (colours) {
            say("   " + (who.equals("server") ? SERVER_COLOUR : CLIENT_COLOUR) + who + PLAIN + " | " + shown);
        } else {
            say("   " + who + " | " + shown);
        }
    }

    /**
     * Starts a tool in a process of its own, which ends with the demonstration.
     *
     * @param onOutput gets the lines of its standard output
     * @param onError gets those of its standard error
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

    /** Ends the processes: this one was asked to end. Nothing is said any more. */
    void interrupt() {
        interrupted = true;
        synchronized (processes) {
            processes.forEach(ToolProcess::kill);
        }
    }

    boolean isInterrupted() {
        return interrupted;
    }

    /** Whether there is time left. */
    boolean hasTime() {
        return !interrupted && deadlineNanos - System.nanoTime() > 0;
    }

    /** Seconds that are left, at least one. */
    long remainingSeconds() {
        return Math.max(1, TimeUnit.NANOSECONDS.toSeconds(deadlineNanos - System.nanoTime()));
    }

    @Override
    public void close() {
        out.flush();
    }
}
