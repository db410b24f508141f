package io.rdma4j.harness.interop;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * A server and its client, which have been started.
 *
 * @param server the server
 * @param client the client
 */
record Pair(RunningProcess server, RunningProcess client) {
    /** Waits until a server listens. */
    @FunctionalInterface
    interface Listening {
        void await(RunningProcess server) throws CaseFailure, IOException, InterruptedException;
    }

    /** Starts a server, waits until it listens, and starts the client. Blanks separate the words of a command. */
    static Pair start(InteropStage stage, String serverCommand, Listening listening, String clientCommand)
            throws CaseFailure, IOException, InterruptedException {
        RunningProcess server = start(stage, "server", stage.server, serverCommand);
        listening.await(server);
        return new Pair(server, start(stage, "client", stage.client, clientCommand));
    }

    /** Starts a tool with its options on a side. */
    static RunningProcess start(InteropStage stage, String label, Side side, String command)
            throws IOException, InterruptedException {
        List<String> words = List.of(command.strip().split(" +", -1));
        return stage.start(label, side, words.getFirst(), words.subList(1, words.size()));
    }

    /** Waits until the server listens with the connection manager at an address, or at all addresses if it is empty. */
    static Listening at(InteropStage stage, int port, String address) {
        return server -> stage.awaitListener(server, stage.server, port, address);
    }

    /** Waits until the server has printed a line. A tool of RDMA sockets in a guest takes twice as long to start. */
    static Listening printing(InteropStage stage, String regex) {
        Duration limit = stage.setting.startLimit().multipliedBy(2);
        return server -> stage.await(
                limit,
                () -> server.hasEnded() || server.prints(regex),
                "the server did not listen within " + limit.toSeconds() + " s");
    }

    /** Returns both, the client first. */
    List<RunningProcess> both() {
        return List.of(client, server);
    }

    /** Waits for both to end with 0. They must have printed exactly these lines, and nothing to standard error. */
    void requireLines(List<String> ofServer, List<String> ofClient) throws CaseFailure, InterruptedException {
        requireLines(client, ofClient);
        requireLines(server, ofServer);
    }

    /** Waits for a process to end with 0. It must have printed exactly these lines, and nothing to standard error. */
    static void requireLines(RunningProcess process, List<String> lines) throws CaseFailure, InterruptedException {
        process.requireSuccess();
        InteropStage.requireOut(process, lines);
        InteropStage.requireErr(process, List.of());
    }

    /** Returns the word after an option, or a default. */
    static String option(String options, String name, String fallback) {
        List<String> words = List.of(options.split(" ", -1));
        int index = words.indexOf(name);
        return index < 0 ? fallback : words.get(index + 1);
    }
}
