package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.MissingPeerException;
import io.rdma4j.bench.worker.WorkerReport;
import io.rdma4j.bench.worker.WorkerReport.Kind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process of a measurement, and the reports that it prints. */
final class WorkerProcess implements AutoCloseable {
    private static final String END = "";

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    WorkerProcess(List<String> command, boolean verbose) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectError(verbose ? Redirect.INHERIT : Redirect.DISCARD);
        // UCX uses the transport that works between machines, and installs no signal handlers, since the JVM has its
        // own.
        builder.environment().put("UCX_TLS", "tcp");
        builder.environment().put("UCX_NET_DEVICES", "lo");
        builder.environment().put("UCX_ERROR_SIGNALS", "");
        process = builder.start();
        Thread.ofVirtual().start(this::read);
    }

    private void read() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add(new WorkerReport(Kind.ERROR, "output lost").toString());
        }
        lines.add(END);
    }

    /** Writes a line to the process's standard input. */
    void writeLine(String line) throws IOException {
        try (Writer writer = process.outputWriter(StandardCharsets.UTF_8)) {
            writer.write(line + "\n");
        }
    }

    /**
     * Returns the text of the next report of a kind.
     *
     * @throws IOException if the process ends, fails or does not report it before {@code deadlineNanos}
     */
    String await(Kind kind, long deadlineNanos) throws IOException, InterruptedException, MissingPeerException {
        while (true) {
            String line = lines.poll(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new IOException("a process did not report in time");
            }
            if (line.equals(END)) {
                throw new IOException("a process ended early");
            }
            WorkerReport report = WorkerReport.parse(line);
            if (report == null) {
                continue;
            }
            if (report.kind() == kind) {
                return report.text();
            }
            switch (report.kind()) {
                case SKIP -> throw new MissingPeerException(report.text());
                case ERROR -> throw new IOException(report.text());
                case PORT, FIGURES -> {}
            }
        }
    }

    /** Waits for a limited time until the process exits by itself. */
    void awaitEnd(long millis) throws InterruptedException {
        boolean _ = process.waitFor(millis, TimeUnit.MILLISECONDS);
    }

    /** Terminates the process and waits until it has exited. */
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
