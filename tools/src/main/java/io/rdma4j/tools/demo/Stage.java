package io.rdma4j.tools.demo;

import io.rdma4j.tools.ToolEnvironment;
import java.io.Console;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Prints the demonstration, and keeps its time. Thread safe. */
final class Stage implements AutoCloseable {
    private static final String SERVER_COLOUR = "\u001b[36m";
    private static final String CLIENT_COLOUR = "\u001b[33m";
    private static final String PLAIN = "\u001b[0m";
    /** Lines of a large ping are cut to what fits. */
    private static final int LINE_LIMIT = 110;

    private final PrintStream out;
    private final boolean colours =
            Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    private final long deadlineNanos;

    /** Prepares a demonstration that may take so long. */
    Stage(ToolEnvironment environment, Duration limit) {
        out = environment.out();
        deadlineNanos = System.nanoTime() + limit.toNanos();
    }

    /** A line of our own. */
    void say(String line) {
        synchronized (out) {
            out.println(line);
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

    /** An environment whose lines are shown as those of the client, without the one that tells of a normal end. */
    ToolEnvironment quiet(ToolEnvironment environment) {
        PrintStream lines = new PrintStream(PrintStream.nullOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                if (!line.equals("client DISCONNECT EVENT...")) {
                    line("client", line);
                }
            }
        };
        return new ToolEnvironment(environment.out(), lines);
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
