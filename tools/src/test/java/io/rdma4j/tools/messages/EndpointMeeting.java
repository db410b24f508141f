package io.rdma4j.tools.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.Meeting;
import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolProcess;
import io.rdma4j.tools.ToolRun;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** How the tests bring a server and a client of one connection together. */
final class EndpointMeeting {
    private static final long TIMEOUT_SECONDS = 60;
    private static final long PATIENCE_SECONDS = 10;
    private static final int MOST_EXCHANGES = 5;
    private static final int MOST_CLIENTS = 20;

    private EndpointMeeting() {}

    /** The server does not say when it listens: a client that is too early is refused, and another one is started. */
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
     * Lets a server and a client, processes of their own, exchange their message each under loss, and returns what the client
     * said; fails unless both end well.
     *
     * <p>Which packet is lost is a matter of their order, and that one of the busyness of the machine. Of the last words some
     * are missed for good: who waits for the acknowledgement of the last message repeats it in vain if its receiver has
     * left, and who waits for the DREP asks in vain if its sender has. Then both begin anew, with other losses.
     *
     * @param server words of the server, but for its port
     * @param client words of the client, but for its port and the seed at their end
     */
    static List<String> exchangeUnderLoss(String server, String client, int firstSeed) throws InterruptedException {
        List<String> told = new CopyOnWriteArrayList<>();
        List<String> lines = new CopyOnWriteArrayList<>();
        for (int seed = firstSeed; seed < firstSeed + MOST_EXCHANGES; seed++) {
            told.clear();
            String port = Meeting.port();
            try (ToolProcess serving = Meeting.process(server + port, told)) {
                Meeting.await(told, "start");
                if (exchange(serving, client + seed + port, told, lines)) {
                    return lines;
                }
            }
        }
        throw new AssertionError("never well; the last time " + told + " and " + lines);
    }

    /** A client that is too early is refused, and another one is started. False if the last word was missed. */
    private static boolean exchange(ToolProcess server, String words, List<String> told, List<String> lines)
            throws InterruptedException {
        for (int tries = 0; tries < MOST_CLIENTS; tries++) {
            lines.clear();
            try (ToolProcess client = Meeting.process(words, lines)) {
                while (client.isAlive() && server.isAlive()) {
                    Thread.sleep(20);
                }
                if (!server.isAlive() || client.await(0) == 0) {
                    return endedWell(server, client, told, lines);
                }
            }
        }
        throw new AssertionError("no client connects: " + lines);
    }

    private static boolean endedWell(ToolProcess server, ToolProcess client, List<String> told, List<String> lines)
            throws InterruptedException {
        if (server.await(TIMEOUT_SECONDS) != 0) {
            assertThat(told).as(lines.toString()).anyMatch(line -> line.contains("RETRY_EXCEEDED_ERROR"));
            return false;
        }
        int status = client.await(PATIENCE_SECONDS);
        if (status == -1) {
            assertThat(told).as(lines.toString()).anyMatch(line -> line.contains("CM DREP"));
            return false;
        }
        assertThat(status).as(lines.toString()).isZero();
        return true;
    }

    private static boolean isRefused(ToolRun client) {
        return client.err().contains("Connection refused") || client.out().contains("REJECTED, error: 8");
    }
}
