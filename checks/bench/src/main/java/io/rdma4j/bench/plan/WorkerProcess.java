package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.MissingPeerException;
import io.rdma4j.bench.worker.WorkerReport;
import io.rdma4j.bench.worker.WorkerReport.Kind;
import io.rdma4j.harness.LineProcess;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A process of a measurement, and the reports that it prints. */
final class WorkerProcess implements AutoCloseable {
    /** UCX uses the transport that works between machines, and installs no signal handlers, since the JVM has its own. */
    private static final Map<String, String> UCX =
            Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo", "UCX_ERROR_SIGNALS", "");

    private final LineProcess process;

    WorkerProcess(List<String> command, boolean verbose) throws IOException {
        process = new LineProcess("a process", command, UCX, verbose ? Redirect.INHERIT : Redirect.DISCARD);
    }

    /** Writes a line to the process's standard input. */
    void sendLine(String line) throws IOException {
        process.sendLine(line);
    }

    /**
     * Returns the text of the next report of a kind.
     *
     * @throws IOException if the process ends, fails or does not report it before {@code deadlineNanos}
     */
    String await(Kind kind, long deadlineNanos) throws IOException, InterruptedException, MissingPeerException {
        while (true) {
            String line = process.pollLine(Duration.ofNanos(deadlineNanos - System.nanoTime()))
                    .orElseThrow(() -> new IOException("a process did not report in time"));
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
    void awaitEnd(Duration limit) throws InterruptedException {
        boolean _ = process.endsWithin(limit);
    }

    /** Terminates the process and waits until it has exited. */
    @Override
    public void close() {
        process.close();
    }
}
