package io.rdma4j.tools.sockets;

import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolRun;

/** How the tests bring a server and a client of one of these tools together. */
final class SocketMeeting {
    private SocketMeeting() {}

    /** The client of a server that prints a text when it listens. */
    static ToolRun clientOf(ToolRun server, String whenListening, Tool tool, String words) throws InterruptedException {
        server.awaitText(whenListening);
        return ToolRun.of(tool, words);
    }
}
