package io.rdma4j.tools.demo;

import io.rdma4j.tools.ToolEnvironment;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The output lines of one run of rping's client. Thread safe.
 *
 * <p>Lines are shown at once, unless the first line reports that the client was rejected. Such a run is held back,
 * because the client is rejected until the server listens.
 */
final class ClientLines {
    private static final String REJECTED = "RDMA_CM_EVENT_REJECTED, error 8";
    private static final String NORMAL_END = "client DISCONNECT EVENT...";

    private final DemoOutput output;
    private final List<String> heldBack = new ArrayList<>();
    private boolean hasLines;
    private boolean tooEarly;

    ClientLines(DemoOutput output) {
        this.output = output;
    }

    synchronized void add(String line) {
        tooEarly |= !hasLines && line.contains(REJECTED);
        hasLines = true;
        if (tooEarly) {
            heldBack.add(line);
        } else {
            output.line("client", line);
        }
    }

    /** Returns whether the client was rejected because the server did not listen yet. */
    synchronized boolean isTooEarly() {
        return tooEarly;
    }

    /** Shows the lines held back. */
    synchronized void show() {
        heldBack.forEach(line -> output.line("client", line));
    }

    /** Returns an environment that prints these lines, except the line that reports a normal end. */
    ToolEnvironment environment() {
        PrintStream lines = new PrintStream(PrintStream.nullOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                if (!line.equals(NORMAL_END)) {
                    add(line);
                }
            }
        };
        return new ToolEnvironment(lines, lines);
    }
}
