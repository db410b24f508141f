package io.rdma4j.tools.sockets;

import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolRun;
import java.util.concurrent.ThreadLocalRandom;

/** How the tests bring a server and a client of one of these tools together. */
final class SocketMeeting {
    private SocketMeeting() {}

    static String port() {
        return " -p " + ThreadLocalRandom.current().nextInt(20_000, 30_000);
    }

    static String loopback() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return "127.%d.%d.%d".formatted(random.nextInt(1, 255), random.nextInt(256), random.nextInt(1, 255));
    }

    /** The client of a server that prints a text when it listens. */
    static ToolRun clientOf(ToolRun server, String whenListening, Tool tool, String words) throws InterruptedException {
        server.awaitText(whenListening);
        return ToolRun.of(tool, words);
    }
}
