package io.rdma4j.programs;

import io.rdma4j.programs.peer.PeerMain;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A process of a program, and the lines that it prints. Its standard error goes to a file. */
final class ProgramProcess implements AutoCloseable {
    /** The beginning of the lines of {@code PeerMain}. */
    static final String MARK = PeerMain.MARK;

    private static final String END = "\0";

    private final Process process;
    private final Path log;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    ProgramProcess(List<String> command, Path log) throws IOException {
        this.log = log;
        process = new ProcessBuilder(command).redirectError(log.toFile()).start();
        Thread.ofVirtual().start(this::read);
    }

    private void read() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            // the process was killed
        }
        lines.add(END);
    }

    /**
     * Returns the rest of the next line that begins with a text.
     *
     * @throws IOException if the process ends before it prints such a line
     * @throws TimeoutException if it does not print it in time
     */
    String await(String beginning, Duration limit) throws IOException, InterruptedException, TimeoutException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new TimeoutException(
                        "no \"" + beginning.strip() + "\" within " + limit.toSeconds() + " s; see " + log);
            }
            if (line.equals(END)) {
                throw new IOException("the process ended before \"" + beginning.strip() + "\"; see " + log);
            }
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length()).strip();
            }
        }
    }

    /** Writes a line to the process's standard input. */
    void writeLine(String line) throws IOException {
        Writer writer = process.outputWriter(StandardCharsets.UTF_8);
        writer.write(line + "\n");
        writer.flush();
    }

    long pid() {
        return process.pid();
    }

    /** Returns the processor time that the process has used. */
    Duration processorTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Kills the process, as {@code kill -9} does, and waits until it has ended. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
