package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.soft.warmup.PrivateStacks;
import io.rdma4j.tools.ToolTestSupport;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a round of a warm-up once, with a server and a client over two private stacks. */
public final class SingleRound {
    private static final long LIMIT_SECONDS = 30;
    private static final long PAUSE_MILLIS = 2;

    private final WarmUp.Round round;
    private final int work;
    private final InetSocketAddress address;
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    private SingleRound(WarmUp.Round round, int work, InetSocketAddress address) {
        this.round = round;
        this.work = work;
        this.address = address;
    }

    /** Runs the round with an amount of work and requires that both sides are successful. */
    public static void requireSuccess(WarmUp.Round round, int work) throws Exception {
        try (PrivateStacks stacks = new PrivateStacks();
                RdmaAccess first = RdmaAccess.of(stacks.first());
                RdmaAccess second = RdmaAccess.of(stacks.second())) {
            InetSocketAddress address = new InetSocketAddress(stacks.address(), ToolTestSupport.portNumber());
            new SingleRound(round, work, address).run(first, second);
        }
    }

    private void run(RdmaAccess first, RdmaAccess second) throws Exception {
        PrintStream lines = new PrintStream(output, true, StandardCharsets.UTF_8);
        ToolEnvironment environment = new ToolEnvironment(lines, lines, first);
        FutureTask<Boolean> server = new FutureTask<>(() -> round.run(environment, address, true, work));
        FutureTask<Boolean> client = new FutureTask<>(() -> reach(server, new ToolEnvironment(lines, lines, second)));
        Thread serving = Thread.ofPlatform().daemon().start(server);
        Thread.ofPlatform().daemon().start(client);
        try {
            assertThat(client.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .as("client: %s", output)
                    .isTrue();
            environment.interrupt(); // stops a server that waits for further clients
            assertThat(server.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .as("server: %s", output)
                    .isTrue();
        } catch (TimeoutException e) {
            AssertionError failure = new AssertionError("a side did not end: " + output, e);
            failure.setStackTrace(serving.getStackTrace());
            throw failure;
        }
    }

    /** Runs the client, and runs it again if the server was not yet listening. */
    private boolean reach(FutureTask<Boolean> server, ToolEnvironment environment) throws InterruptedException {
        while (!server.isDone()) {
            if (round.run(environment, address, false, work)) {
                return true;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        return false;
    }
}
