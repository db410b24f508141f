package io.rdma4j.tools.demo;

import io.rdma4j.tools.command.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The output lines of one run of rping's client. Thread safe.
 *
 * <p>Lines are shown immediately, unless the first line reports that the client was rejected. The lines of such a run
 * are held back, because the client is rejected until the server listens.
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

    /** Returns whether the client was rejected because the server was not yet listening. */
    synchronized boolean isTooEarly() {
        return tooEarly;
    }

    /** Shows the lines held back. */
    synchronized void show() {
        heldBack.forEach(line -> output.line("client", line));
    }

    /** Returns an environment that prints these lines, except the line that reports a normal end. */
    ToolEnvironment environment() {
        PrintStream lines = new PrintStream(new Splitter(), true, StandardCharsets.UTF_8);
        return new ToolEnvironment(lines, lines);
    }

    /** A stream that adds each line when it is complete. */
    private final class Splitter extends OutputStream {
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int oneByte) {
            if (oneByte != '\n') {
                line.write(oneByte);
                return;
            }
            String text = line.toString(StandardCharsets.UTF_8).stripTrailing();
            line.reset();
            if (!text.equals(NORMAL_END)) {
                add(text);
            }
        }
    }
}
