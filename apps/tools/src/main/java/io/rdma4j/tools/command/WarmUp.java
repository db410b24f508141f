package io.rdma4j.tools.command;

import io.rdma4j.soft.warmup.CompilerActivity;
import io.rdma4j.soft.warmup.PrivateStacks;
import io.rdma4j.verbs.RdmaException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The warm-up of a tool that measures: it lets Java compile the measured code before the measurement starts
 * (decision 036).
 *
 * <p>A warm-up runs short rounds of the tool itself, a server and a client in two threads, over two private stacks. It
 * ends when the compilers are idle, or after a few seconds. Its packets reach no other process and are neither captured
 * nor counted, and its output is discarded. The logger {@code io.rdma4j.tools.command.WarmUp} reports a failure as a
 * debug message.
 */
public final class WarmUp implements AutoCloseable {
    /** A warm-up that does nothing. */
    public static final WarmUp NONE = new WarmUp();

    private static final System.Logger LOGGER = System.getLogger(WarmUp.class.getName());

    private static final Duration LIMIT = Duration.ofSeconds(3);

    /** The minimum duration of a useful round. Shorter rounds consist mostly of connecting. */
    private static final long ROUND_NANOS = 200_000_000;

    private static final int FIRST_WORK = 16;

    /** The maximum pause between two rounds, in which the compilers have the processors. */
    private static final long PAUSE_NANOS = 300_000_000;

    private static final long CHECK_MILLIS = 5;
    private static final long ATTEMPT_PAUSE_NANOS = 1_000_000;

    private static final Duration END_WAIT = Duration.ofMillis(50);

    private static final int FIRST_PORT = 10_000;
    private static final int LAST_PORT = 32_000;

    private static final PrintStream NOWHERE =
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);

    /** A short run of a tool. */
    public interface Round {
        /**
         * Runs one side.
         *
         * @param environment the environment, which discards the output
         * @param server the address and port of the server; the client has the same address
         * @param isServer true for the server
         * @param work the amount of work: twice as much takes about twice as long
         * @return true if the run was successful
         */
        boolean run(ToolEnvironment environment, InetSocketAddress server, boolean isServer, int work);
    }

    private final long startNanos = System.nanoTime();
    private volatile boolean isOver;
    private @Nullable Thread thread;

    private WarmUp() {}

    /**
     * Warms up and prints how long it took, unless the environment excludes warm-ups.
     *
     * @param hosts the names and addresses that the user has given. If one of them is unknown, there is no warm-up, so
     *     that the tool reports it immediately
     */
    public static void perform(String tool, Round round, ToolEnvironment environment, @Nullable String... hosts) {
        if (environment.warmUp() == WarmUpChoice.NEVER || !Stream.of(hosts).allMatch(WarmUp::isKnown)) {
            return;
        }
        WarmUp warmUp = new WarmUp();
        warmUp.run(round);
        double seconds = Math.round((System.nanoTime() - warmUp.startNanos) / 1e8) / 10.0;
        environment.report().result("warmUpSeconds", seconds);
        environment
                .err()
                .println(String.format(Locale.ROOT, "%s: warmed up for %.1f s (not with --no-warm-up)", tool, seconds));
    }

    private static boolean isKnown(@Nullable String host) {
        try {
            return host == null || InetAddress.getAllByName(host).length > 0;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /**
     * Warms up a server in the background, while it waits for its client, or a client like {@link #perform}.
     *
     * @return the warm-up that a server closes when its client connects; {@link #NONE} for a client
     */
    public static WarmUp before(
            String tool, boolean isServer, Round round, ToolEnvironment environment, @Nullable String... hosts) {
        if (isServer) {
            return start(round, environment);
        }
        perform(tool, round, environment, hosts);
        return NONE;
    }

    /** Starts to warm up in the background, for a server that waits for its client. */
    public static WarmUp start(Round round, ToolEnvironment environment) {
        if (environment.warmUp() == WarmUpChoice.NEVER) {
            return NONE;
        }
        WarmUp warmUp = new WarmUp();
        warmUp.thread = Thread.ofPlatform().name("rdma4j-warm-up").daemon().start(() -> warmUp.run(round));
        return warmUp;
    }

    private void run(Round round) {
        try {
            repeat(round);
        } catch (RdmaException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the warm-up has failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void repeat(Round round) throws InterruptedException {
        CompilerActivity compilers = new CompilerActivity();
        int work = FIRST_WORK;
        boolean isComplete = true;
        while (isComplete && !isOver(compilers)) {
            long beginNanos = System.nanoTime();
            isComplete = runOnce(round, work);
            if (System.nanoTime() - beginNanos < ROUND_NANOS) {
                work *= 2;
            }
            leaveProcessors(compilers);
        }
    }

    /**
     * Runs a round over new stacks, so that each round also starts and stops stacks. Otherwise the compilers treat
     * those branches as never taken, and discard the compiled code when the stack of the process takes them.
     */
    private boolean runOnce(Round round, int work) throws InterruptedException {
        try (PrivateStacks stacks = new PrivateStacks();
                RdmaAccess first = RdmaAccess.of(stacks.first());
                RdmaAccess second = RdmaAccess.of(stacks.second())) {
            ToolEnvironment server = new ToolEnvironment(NOWHERE, NOWHERE, first);
            ToolEnvironment client = new ToolEnvironment(NOWHERE, NOWHERE, second);
            InetSocketAddress address = new InetSocketAddress(stacks.address(), randomPort());
            Thread serving = Thread.ofPlatform()
                    .name("rdma4j-warm-up-server")
                    .daemon()
                    .start(() -> attempt(round, server, address, true, work));
            boolean isComplete = reach(serving, round, client, address, work);
            end(serving, server, isComplete);
            return isComplete;
        }
    }

    /** Returns a port that another program is unlikely to use, since some tools exchange parameters over TCP. */
    private static int randomPort() {
        return ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT);
    }

    /** Runs the client, and runs it again if the server was not yet listening. */
    private boolean reach(
            Thread serving, Round round, ToolEnvironment environment, InetSocketAddress address, int work) {
        boolean isComplete = attempt(round, environment, address, false, work);
        while (!isComplete && serving.isAlive() && !isOver && !isLate()) {
            LockSupport.parkNanos(ATTEMPT_PAUSE_NANOS);
            isComplete = attempt(round, environment, address, false, work);
        }
        return isComplete;
    }

    /** Ends a server that waits for its first client or for further clients. */
    private static void end(Thread serving, ToolEnvironment environment, boolean isComplete)
            throws InterruptedException {
        do {
            environment.interrupt(); // again for a server that has only now started to listen
            if (!isComplete) {
                serving.interrupt();
            }
        } while (!serving.join(END_WAIT));
    }

    /** Runs one side. */
    private static boolean attempt(
            Round round, ToolEnvironment environment, InetSocketAddress address, boolean isServer, int work) {
        try {
            return round.run(environment, address, isServer, work);
        } catch (RuntimeException | OutOfMemoryError e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a round of the warm-up has failed", e);
            return false;
        }
    }

    /** Leaves the processors to the compilers until they have compiled the methods that the round called often. */
    private void leaveProcessors(CompilerActivity compilers) throws InterruptedException {
        long endNanos = System.nanoTime() + PAUSE_NANOS;
        do {
            Thread.sleep(CHECK_MILLIS);
        } while (compilers.isBusy() && !isOver && System.nanoTime() < endNanos);
    }

    private boolean isOver(CompilerActivity compilers) {
        return isOver || compilers.isQuiet() || isLate();
    }

    private boolean isLate() {
        return System.nanoTime() - startNanos > LIMIT.toNanos();
    }

    /** Stops a warm-up in the background, and waits until its thread has ended. */
    @Override
    public void close() {
        isOver = true;
        Thread running = thread;
        if (running == null) {
            return;
        }
        try {
            running.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
