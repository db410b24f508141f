package io.rdma4j.tools.sockets;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.command.Tool;

/** Runs clients of the socket tools in tests. */
final class SocketToolClient {
    private SocketToolClient() {}

    /** Runs the client once the server has printed the text that it prints when it listens. */
    static ToolRun run(ToolRun server, String listeningText, Tool tool, String words) throws InterruptedException {
        server.awaitText(listeningText);
        return ToolRun.of(tool, words);
    }
}
