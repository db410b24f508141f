package io.rdma4j.tools.messages;

import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolProcess;
import io.rdma4j.tools.ToolRun;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** How the tests bring a server and a client of one connection together. */
final class EndpointMeeting {
    private EndpointMeeting() {}

    static String port() {
        return " -p " + ThreadLocalRandom.current().nextInt(20_000, 30_000);
    }

    static String loopback() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return "127.%d.%d.%d".formatted(random.nextInt(1, 255), random.nextInt(256), random.nextInt(1, 255));
    }

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

    static ToolProcess process(String words, List<String> lines) {
        return ToolProcess.start(List.of(words.split(" +")), lines::add, lines::add);
    }

    static void await(List<String> lines, String line) throws InterruptedException {
        for (int i = 0; i < 2000 && !lines.contains(line); i++) {
            Thread.sleep(10);
        }
    }
}
