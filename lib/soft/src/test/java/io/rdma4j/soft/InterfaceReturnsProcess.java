package io.rdma4j.soft;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A process in its own network namespace, commanded by the lines of its input.
 *
 * <p>A line is a command of {@code ip}, or {@code connect}, which makes one connection between new identifiers at
 * {@value #ADDRESS}, or {@code devices}, which creates a protection domain in each device of the connection manager.
 * The reply to each is a line that begins with {@code =}.
 */
public final class InterfaceReturnsProcess {
    private static final String ADDRESS = "192.0.2.2";
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final QueuePairCapabilities SIZES = new QueuePairCapabilities(4, 4, 1, 1, 0);

    private InterfaceReturnsProcess() {}

    /** Runs the process. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        System.out.println("= ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println("= " + answer(line));
        }
    }

    private static String answer(String line) throws IOException, InterruptedException {
        try {
            switch (line) {
                case "connect" -> connect();
                case "devices" -> {
                    for (DeviceContext each : ConnectionManager.ofProcess().devices()) {
                        each.createProtectionDomain().close();
                    }
                }
                default -> {
                    int status = new ProcessBuilder(line.split(" ", -1))
                            .inheritIO()
                            .start()
                            .waitFor();
                    Thread.sleep(200); // the interfaces are cached for half as long
                    return status == 0 ? "done" : "failed";
                }
            }
            return "done";
        } catch (RdmaException e) {
            return e.toString();
        }
    }

    private static void connect() {
        try (CmId listener = CmId.create(PortSpace.TCP);
                CmId client = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral(ADDRESS), 0));
            listener.listen(1);
            client.resolveAddress(
                    new InetSocketAddress(InetAddress.ofLiteral(ADDRESS), listener.sourcePort()), PATIENCE);
            client.resolveRoute(PATIENCE);
            client.createQueuePair(QueuePairInitAttributes.of(SIZES));
            CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> accept(listener));
            client.connect();
            accepted.join().close();
        }
    }

    private static CmId accept(CmId listener) {
        CmId server = listener.getRequest();
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        return server;
    }
}
