package io.rdma4j.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A process that exchanges lines with the check: it receives them from its standard input and prints them. Closing it kills it.
 * Used by one thread.
 */
public final class LineProcess implements AutoCloseable {
    private static final String END = "\0";

    private final String name;
    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /**
     * Starts a process.
     *
     * @param name its name in messages
     * @param environment variables in addition to those of this process
     * @param errors the destination of its standard error
     */
    public LineProcess(
            String name, List<String> command, Map<String, String> environment, ProcessBuilder.Redirect errors)
            throws IOException {
        this.name = name;
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors);
        builder.environment().putAll(environment);
        process = builder.start();
        Thread.ofVirtual().start(this::read);
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException killed) {
            // The end is reported below.
        }
        lines.add(END);
    }

    /** Writes a line to the standard input of the process. */
    public void sendLine(String line) throws IOException {
        try {
            Writer writer = process.outputWriter(StandardCharsets.UTF_8);
            writer.write(line + "\n");
            writer.flush();
        } catch (IOException e) {
            throw new IOException(name + " has exited", e);
        }
    }

    /**
     * Returns the next line of standard output, or an empty result after {@code limit}.
     *
     * @throws IOException if the process has exited
     */
    public Optional<String> pollLine(Duration limit) throws IOException, InterruptedException {
        String line = lines.poll(limit.toNanos(), TimeUnit.NANOSECONDS);
        if (END.equals(line)) {
            lines.add(END);
            throw new IOException(name + " has exited early");
        }
        return Optional.ofNullable(line);
    }

    /**
     * Returns the rest of the next line that begins with a text. Other lines are discarded.
     *
     * @throws IOException if the process exits, or does not print such a line within {@code limit}
     */
    public String awaitLine(String beginning, Duration limit) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            String line = pollLine(Duration.ofNanos(deadline - System.nanoTime()))
                    .orElseThrow(() -> new IOException(
                            name + " did not print \"" + beginning + "\" within " + limit.toSeconds() + " s"));
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length()).strip();
            }
        }
    }

    /** Returns the process ID. */
    public long pid() {
        return process.pid();
    }

    /** Returns the processor time that the process has used. */
    public Duration processorTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Kills the process by SIGKILL, and waits until it has exited. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Waits for the process to exit by itself, and returns false if it does not in time. */
    public boolean endsWithin(Duration limit) throws InterruptedException {
        return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Waits for the process to exit by itself.
     *
     * @return the exit status
     * @throws IOException if the process does not exit within {@code limit}
     */
    public int awaitEnd(Duration limit) throws IOException, InterruptedException {
        if (!endsWithin(limit)) {
            throw new IOException(name + " did not exit within " + limit);
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        try {
            kill();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
