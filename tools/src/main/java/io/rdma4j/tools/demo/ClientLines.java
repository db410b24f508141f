package io.rdma4j.tools.demo;

import io.rdma4j.tools.ToolEnvironment;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The lines of one run of rping's client: shown at once, but kept back where the first says that the client was refused,
 * which happens as long as the server does not listen. Thread safe.
 */
final class ClientLines {
    private static final String REFUSED = "RDMA_CM_EVENT_REJECTED, error 8";
    private static final String NORMAL_END = "client DISCONNECT EVENT...";

    private final DemoOutput output;
    private final List<String> kept = new ArrayList<>();
    private boolean begun;
    private boolean tooEarly;

    ClientLines(DemoOutput output) {
        this.output = output;
    }

    synchronized void add(String line) {
        tooEarly |= !begun && line.contains(REFUSED);
        begun = true;
        if (tooEarly) {
            kept.add(line);
        } else {
            output.line("client", line);
        }
    }

    /** Whether the client was refused. */
    synchronized boolean isTooEarly() {
        return tooEarly;
    }

    /** Shows what was kept back. */
    synchronized void show() {
        kept.forEach(line -> output.line("client", line));
    }

    /** An environment that prints these lines, without the one that tells of a normal end. */
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
