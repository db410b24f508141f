package io.rdma4j.harness.exec;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A server and its client, which both have to end with status 0 and without a complaint. Immutable.
 *
 * @param ready how it is known that the server listens
 * @param server the server's command
 * @param client the client's command
 * @param clientSide the host of the client
 * @param check an additional check
 * @param retried a fault of the program that may happen on a busy machine, after which the pair runs once more; or null
 */
record Pair(
        Ready ready,
        String server,
        String client,
        Side clientSide,
        Check check,
        @Nullable RetriedFault retried) {
    /** How it is known that a server listens. */
    sealed interface Ready {
        /** The server listens on a TCP port. */
        record Tcp(int port) implements Ready {}

        /** The server listens with the connection manager. */
        record ConnectionManager() implements Ready {}

        /** It cannot be observed. */
        record Unknown() implements Ready {}
    }

    static final Ready CM = new Ready.ConnectionManager();
    static final Ready UNKNOWN = new Ready.Unknown();

    /** Returns the state of a server that listens on a TCP port. */
    static Ready tcp(int port) {
        return new Ready.Tcp(port);
    }

    /** A check after both have ended. */
    @FunctionalInterface
    interface Check {
        void check(ExecStage stage, RunningProcess server, RunningProcess client) throws CaseFailure;
    }

    /**
     * A fault of a program, after which the pair runs once more.
     *
     * @param pattern matches the reason of the failure or the output of one side
     * @param remark the remark about the second run
     */
    record RetriedFault(Pattern pattern, String remark) {
        RetriedFault(String regex, String remark) {
            this(Pattern.compile(regex, Pattern.MULTILINE), remark);
        }

        boolean matches(String text) {
            return pattern.matcher(text).find();
        }
    }

    static Pair of(Ready ready, String server, String client) {
        return new Pair(ready, server, client, Side.CLIENT, (stage, s, c) -> {}, null);
    }

    /** Returns a pair on one host. */
    Pair onOneHost() {
        return new Pair(ready, server, client, Side.SERVER, check, retried);
    }

    /** Returns a pair with a check. */
    Pair checked(Check value) {
        return new Pair(ready, server, client, clientSide, value, retried);
    }

    /** Returns a pair that runs once more after a fault. */
    Pair retriedAfter(RetriedFault value) {
        return new Pair(ready, server, client, clientSide, check, value);
    }

    /** Runs the pair. */
    void run(ExecStage stage, Roles roles) throws CaseFailure, IOException, InterruptedException {
        Running first = start(stage, roles);
        try {
            finish(stage, first);
        } catch (CaseFailure failed) {
            first.end();
            RetriedFault fault = retried;
            if (fault == null || !fault.matches(failed.getMessage() + "\n" + first.output())) {
                throw failed;
            }
            stage.stage.remark("ran again: " + fault.remark());
            finish(stage, start(stage, roles));
        }
    }

    /** A server and a client that were started. */
    record Running(RunningProcess server, RunningProcess client) {
        void end() throws IOException, InterruptedException {
            client.end("KILL");
            server.end("KILL");
        }

        String output() {
            return String.join("\n", server.out(), server.err(), client.out(), client.err());
        }
    }

    /** Starts the server, waits until it listens, and starts the client. */
    Running start(ExecStage stage, Roles roles) throws CaseFailure, IOException, InterruptedException {
        RunningProcess first = stage.start("server", Side.SERVER, stage.tool(roles.server(), server));
        awaitReady(stage, ready);
        return new Running(first, stage.start("client", clientSide, stage.tool(roles.client(), client)));
    }

    /** Waits until a server is ready. */
    static void awaitReady(ExecStage stage, Ready ready) throws CaseFailure, IOException, InterruptedException {
        switch (ready) {
            case Ready.Tcp(int port) -> stage.awaitTcpListener(port);
            case Ready.ConnectionManager() -> stage.awaitListener();
            case Ready.Unknown() -> Thread.sleep(Duration.ofSeconds(2));
        }
    }

    private void finish(ExecStage stage, Running running) throws CaseFailure, InterruptedException {
        running.client().requireSuccess();
        running.server().requireSuccess();
        ExecStage.requireNoComplaint(running.client());
        ExecStage.requireNoComplaint(running.server());
        check.check(stage, running.server(), running.client());
    }
}
