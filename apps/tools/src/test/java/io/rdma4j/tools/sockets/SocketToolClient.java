package io.rdma4j.tools.sockets;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.command.Tool;

/** Runs clients of the socket tools in tests. */
final class SocketToolClient {
    private SocketToolClient() {}

    /** Runs the client after the server has printed {@code listeningText}. */
    static ToolRun run(ToolRun server, String listeningText, Tool tool, String words) throws InterruptedException {
        server.awaitText(listeningText);
        return ToolRun.of(tool, words);
    }
}
