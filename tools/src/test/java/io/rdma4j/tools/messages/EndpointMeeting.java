package io.rdma4j.tools.messages;

import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolRun;

/** How the tests bring a server and a client of one connection together. */
final class EndpointMeeting {
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

    private static boolean isRefused(ToolRun client) {
        return client.err().contains("Connection refused") || client.out().contains("REJECTED, error: 8");
    }
}
