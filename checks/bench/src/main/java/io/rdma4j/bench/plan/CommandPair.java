package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.MissingPeerException;
import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.harness.DebianPackages;
import io.rdma4j.harness.Folders;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import io.rdma4j.harness.TcpSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    private static final Duration READY_LIMIT = Duration.ofSeconds(5);

    /** More than the time by which a server starts before the client. */
    private static final Duration HEAD_START_LIMIT = Duration.ofSeconds(20);

    /** The head start of a server that listens on the TCP port, which shows that it is ready. */
    static final long UNTIL_IT_LISTENS = -1;

    @Override
    public Map<String, Double> run(Pace pace) throws MissingPeerException, IOException, InterruptedException {
        requireProgram(server.getFirst());
        requireProgram(client.getFirst());
        int port = freePort();
        Stage stage = new Stage(Files.createTempDirectory("bench-"), Duration.ofSeconds(pace.limitSeconds()));
        try {
            var _ = start(stage, "server", server, port, stage.limit().plus(HEAD_START_LIMIT));
            if (headStartMillis != UNTIL_IT_LISTENS) {
                Thread.sleep(headStartMillis);
            } else if (!Stage.holdsWithin(READY_LIMIT, () -> TcpSockets.isListening(port))) {
                // A test connection would be a client for the server.
                throw new IOException("the server does not start listening");
            }
            return runClient(stage, port);
        } finally {
            stage.endAll();
            Folders.delete(stage.folder());
        }
    }

    private static void requireProgram(String program) throws MissingPeerException {
        if (program.startsWith("/")) {
            if (!Files.isExecutable(Path.of(program))) {
                throw new MissingPeerException("there is no " + program);
            }
        } else if (!DebianPackages.hasProgram(program)) {
            throw new MissingPeerException(program + " is not installed");
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(WorkerAddresses.SERVER))) {
            return socket.getLocalPort();
        }
    }

    private RunningProcess start(Stage stage, String role, List<String> words, int port, Duration limit)
            throws IOException {
        List<String> variables = new ArrayList<>();
        if (!environment.isEmpty()) {
            variables.add("env");
            environment.forEach((name, value) -> variables.add(name + "=" + value));
        }
        List<String> command = words.stream()
                .map(word -> word.replace("{port}", Integer.toString(port)).replace("{server}", WorkerAddresses.SERVER))
                .toList();
        return stage.start(role, variables, command, limit);
    }

    private Map<String, Double> runClient(Stage stage, int port) throws IOException, InterruptedException {
        long startNanos = System.nanoTime();
        RunningProcess process = start(stage, "client", client, port, stage.limit());
        int status = process.awaitEnd();
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        if (status == RunningProcess.EXCEEDED || status == RunningProcess.KILLED) {
            throw new IOException("the client did not finish in time");
        }
        String text = process.out() + process.err();
        Map<String, Double> figures = new LinkedHashMap<>(reader.apply(text));
        if (status != 0 || figures.containsValue(Double.NaN)) {
            throw new IOException("status " + status + ", output: " + lastLine(text));
        }
        figures.put(Figures.SECONDS, seconds);
        return figures;
    }

    private static String lastLine(String text) {
        return text.lines().filter(line -> !line.isBlank()).reduce("", (_, line) -> line);
    }
}
