package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.MissingPeerException;
import io.rdma4j.bench.worker.WorkerAddresses;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A server and a client that are commands of other projects.
 *
 * <p>In their arguments, a free TCP port replaces {@code {port}}, and the server's address replaces {@code {server}}.
 *
 * @param id name of the experiment
 * @param server the server's command
 * @param client the client's command
 * @param environment environment variables of both
 * @param headStartMillis the time by which the server starts before the client, or {@link #UNTIL_IT_LISTENS}
 * @param reader extracts figures from the client's output; an empty result if it contains none.
 *     {@link Figures#SECONDS}, the client's run time, is always added
 */
public record CommandPair(
        String id,
        List<String> server,
        List<String> client,
        Map<String, String> environment,
        long headStartMillis,
        Function<String, Map<String, Double>> reader)
        implements Experiment {
    private static final long READY_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The head start of a server that listens on the TCP port, which shows that it is ready. */
    static final long UNTIL_IT_LISTENS = -1;

    @Override
    public Map<String, Double> run(Pace pace) throws MissingPeerException, IOException, InterruptedException {
        requireProgram(server.getFirst());
        requireProgram(client.getFirst());
        int port = freePort();
        Process serverProcess = start(server, port, ProcessBuilder.Redirect.DISCARD);
        try {
            if (headStartMillis == UNTIL_IT_LISTENS) {
                awaitListening(serverProcess, port);
            } else {
                Thread.sleep(headStartMillis);
            }
            return runClient(port, pace);
        } finally {
            kill(serverProcess);
        }
    }

    private void requireProgram(String program) throws MissingPeerException {
        if (program.startsWith("/")) {
            if (!Files.isExecutable(Path.of(program))) {
                throw new MissingPeerException("there is no " + program);
            }
            return;
        }
        for (String folder : System.getenv().getOrDefault("PATH", "/usr/bin").split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(folder, program))) {
                return;
            }
        }
        throw new MissingPeerException(program + " is not installed");
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(WorkerAddresses.SERVER))) {
            return socket.getLocalPort();
        }
    }

    private Process start(List<String> words, int port, ProcessBuilder.Redirect output) throws IOException {
        List<String> command = new ArrayList<>();
        for (String word : words) {
            command.add(word.replace("{port}", Integer.toString(port)).replace("{server}", WorkerAddresses.SERVER));
        }
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(output).redirectErrorStream(true);
        builder.environment().putAll(environment);
        return builder.start();
    }

    /**
     * Waits until the server listens, according to the kernel's socket table. The server would treat a test connection
     * as a client.
     */
    private static void awaitListening(Process serverProcess, int port) throws IOException, InterruptedException {
        String suffix = ":%04X".formatted(port);
        long deadline = System.nanoTime() + READY_NANOS;
        while (serverProcess.isAlive() && System.nanoTime() < deadline) {
            for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
                for (String line : Files.readAllLines(Path.of(table))) {
                    String[] fields = line.strip().split(" +", -1);
                    if (fields.length > 3 && fields[1].endsWith(suffix) && fields[3].equals("0A")) {
                        return;
                    }
                }
            }
            Thread.sleep(10);
        }
        throw new IOException("the server does not start listening");
    }

    private Map<String, Double> runClient(int port, Pace pace) throws IOException, InterruptedException {
        Path output = Files.createTempFile("bench-", ".out");
        try {
            long startNanos = System.nanoTime();
            Process clientProcess = start(client, port, ProcessBuilder.Redirect.to(output.toFile()));
            if (!clientProcess.waitFor(pace.limitSeconds(), TimeUnit.SECONDS)) {
                kill(clientProcess);
                throw new IOException("the client did not finish in time");
            }
            double seconds = (System.nanoTime() - startNanos) / 1e9;
            String text = Files.readString(output, StandardCharsets.ISO_8859_1);
            Map<String, Double> figures = new LinkedHashMap<>(reader.apply(text));
            if (clientProcess.exitValue() != 0 || figures.containsValue(Double.NaN)) {
                throw new IOException("status " + clientProcess.exitValue() + ", output: " + lastLine(text));
            }
            figures.put(Figures.SECONDS, seconds);
            return figures;
        } finally {
            Files.delete(output);
        }
    }

    private static String lastLine(String text) {
        return text.lines().filter(line -> !line.isBlank()).reduce("", (_, line) -> line);
    }

    private static void kill(Process process) throws InterruptedException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.waitFor();
    }
}
