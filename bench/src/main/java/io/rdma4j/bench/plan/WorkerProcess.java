package io.rdma4j.bench.plan;

import io.rdma4j.bench.report.JsonParser;
import io.rdma4j.bench.worker.MissingPeerException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One process of a measurement, and the lines of JSON that it says. */
final class WorkerProcess implements AutoCloseable {
    private static final String END = "";

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    WorkerProcess(List<String> command, boolean verbose) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectError(verbose ? Redirect.INHERIT : Redirect.DISCARD);
        // Of UCX, the transport that works between machines; and no handler of its own for the signals of the JVM.
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
            lines.add("{\"error\": \"output lost\"}");
        }
        lines.add(END);
    }

    /** Gives the process a line of input. */
    void tell(String line) throws IOException {
        try (Writer writer = process.outputWriter(StandardCharsets.UTF_8)) {
            writer.write(line + "\n");
        }
    }

    /**
     * The next line with a key.
     *
     * @throws IOException if the process ends, fails or says nothing until {@code deadlineNanos}
     */
    Object await(String key, long deadlineNanos) throws IOException, InterruptedException, MissingPeerException {
        while (true) {
            String line = lines.poll(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new IOException("it takes too long");
            }
            if (line.equals(END)) {
                throw new IOException("a process ended early");
            }
            Map<?, ?> said = JsonParser.parseObject(line);
            if (said.get("skip") instanceof String reason) {
                throw new MissingPeerException(reason);
            }
            if (said.get("error") instanceof String error) {
                throw new IOException(error);
            }
            Object value = said.get(key);
            if (value != null) {
                return value;
            }
        }
    }

    /** Waits a moment for the process to end by itself. */
    void awaitEnd(long millis) throws InterruptedException {
        boolean _ = process.waitFor(millis, TimeUnit.MILLISECONDS);
    }

    /** Ends the process and waits until it is gone. */
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
