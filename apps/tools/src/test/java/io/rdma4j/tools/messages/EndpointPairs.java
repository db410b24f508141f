package io.rdma4j.tools.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolProcess;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Runs a server and a client of one connection for the tests. */
final class EndpointPairs {
    private static final long TIMEOUT_SECONDS = 60;
    private static final long CLIENT_TIMEOUT_SECONDS = 10;
    private static final int MAX_EXCHANGES = 5;
    private static final int MAX_CLIENTS = 20;

    private EndpointPairs() {}

    /** Runs a client, and repeats it until the server listens, which the server does not report. */
    static ToolRun clientOf(ToolRun server, Tool tool, String words) throws InterruptedException {
        server.awaitText("start");
        ToolRun client = ToolRun.of(tool, words);
        for (int tries = 0; tries < 200 && isRefused(client) && !server.hasEnded(); tries++) {
            Thread.sleep(20);
            client = ToolRun.of(tool, words);
        }
        return client;
    }

    /**
     * Runs a server and a client in separate processes that exchange messages under loss, and returns the client's
     * output.
     *
     * <p>Which packets are lost depends on their order and thus on the load of the machine. The loss of a final packet
     * cannot be recovered. Retransmissions of the last message fail if its receiver has exited, and retransmissions of
     * the DREQ fail if the sender of the DREP has exited. The exchange is then repeated with other losses.
     *
     * @param server the server's command line without its port
     * @param client the client's command line without its port and the number of the seed at its end
     */
    static List<String> exchangeUnderLoss(String server, String client, int firstSeed) throws InterruptedException {
        List<String> serverLines = new CopyOnWriteArrayList<>();
        List<String> clientLines = new CopyOnWriteArrayList<>();
        for (int seed = firstSeed; seed < firstSeed + MAX_EXCHANGES; seed++) {
            serverLines.clear();
            String port = ToolTestSupport.port();
            try (ToolProcess serverProcess = ToolTestSupport.process(server + port, serverLines)) {
                ToolTestSupport.await(serverLines, "start");
                if (exchange(serverProcess, client + seed + port, serverLines, clientLines)) {
                    return clientLines;
                }
            }
        }
        throw new AssertionError("no exchange succeeded; the last output: " + serverLines + " and " + clientLines);
    }

    /** Runs clients until one connects. Returns false if a final packet was lost. */
    private static boolean exchange(
            ToolProcess server, String words, List<String> serverLines, List<String> clientLines)
            throws InterruptedException {
        for (int tries = 0; tries < MAX_CLIENTS; tries++) {
            clientLines.clear();
            try (ToolProcess client = ToolTestSupport.process(words, clientLines)) {
                while (client.isAlive() && server.isAlive()) {
                    Thread.sleep(20);
                }
                if (!server.isAlive() || client.await(0) == 0) {
                    return bothSucceeded(server, client, serverLines, clientLines);
                }
            }
        }
        throw new AssertionError("no client connects: " + clientLines);
    }

    private static boolean bothSucceeded(
            ToolProcess server, ToolProcess client, List<String> serverLines, List<String> clientLines)
            throws InterruptedException {
        if (server.await(TIMEOUT_SECONDS) != 0) {
            assertThat(serverLines).as(clientLines.toString()).anyMatch(line -> line.contains("RETRY_EXCEEDED_ERROR"));
            return false;
        }
        int status = client.await(CLIENT_TIMEOUT_SECONDS);
        if (status == -1) {
            assertThat(serverLines).as(clientLines.toString()).anyMatch(line -> line.contains("CM DREP"));
            return false;
        }
        assertThat(status).as(clientLines.toString()).isZero();
        return true;
    }

    private static boolean isRefused(ToolRun client) {
        return client.err().contains("Connection refused") || client.out().contains("REJECTED, error: 8");
    }
}
