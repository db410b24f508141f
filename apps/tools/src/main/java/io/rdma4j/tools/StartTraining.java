package io.rdma4j.tools;

import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Exercises the tools while the Java virtual machine records a start-up cache (JEP 483, 514, 515). Decision 018
 * explains why there is one.
 *
 * <p>The launcher runs this class. It prints every tool's help and runs one short client and server of each kind of
 * tool in this process, with all output discarded.
 *
 * <p>It is safe on any machine: it uses only a loopback address that other processes are unlikely to use, and the
 * launcher sets a separate run directory. A failed run is missing from the record, which only makes later starts
 * slower.
 */
public final class StartTraining {
    /** The limit for the whole training, which takes about a second on an idle machine. */
    private static final long LIMIT_SECONDS = 60;

    private static final long PAIR_SECONDS = 10;

    private static final int TRIES = 50;
    private static final long PAUSE_MILLIS = 20;
    private static final int TOO_LATE = 3;

    /**
     * The command lines of a server and its client.
     *
     * @param server the server's command line; {@code %s} is replaced by the address
     * @param client the client's command line; {@code %s} is replaced by the address
     */
    record ClientServerPair(String server, String client) {}

    /** One pair of each kind, the most frequently used first. */
    static final List<ClientServerPair> PAIRS = List.of(
            new ClientServerPair("rping -s -a %s -C 2", "rping -c -a %s -C 2 -v -V"),
            new ClientServerPair("rstream -b %s -S 64 -C 2", "rstream -s %s -S 64 -C 2"),
            new ClientServerPair("ucmatose -b %s -C 1", "ucmatose -s %s -C 1"));

    private StartTraining() {}

    /** Runs the training and ends the process, with status 0 unless it took too long. */
    public static void main(String[] words) {
        Thread.ofPlatform().daemon().start(StartTraining::endInTime);
        for (Tool tool : Main.tools()) {
            runTool(tool.name() + " --help");
        }
        runTool("ibv_devices");
        runTool("ibv_devinfo");
        String address = address();
        // Stops at the first failure: without a loopback interface, for example, all would fail, each after a timeout.
        var _ = PAIRS.stream().allMatch(pair -> succeeds(pair, address));
        System.exit(0);
    }

    private static void endInTime() {
        try {
            TimeUnit.SECONDS.sleep(LIMIT_SECONDS);
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(TOO_LATE);
    }

    /** Returns a random loopback address on Linux, where all of 127.0.0.0/8 is local, and 127.0.0.1 elsewhere. */
    private static String address() {
        if (!System.getProperty("os.name", "").equals("Linux")) {
            return "127.0.0.1";
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return String.format(
                Locale.ROOT, "127.%d.%d.%d", random.nextInt(1, 255), random.nextInt(1, 255), random.nextInt(1, 255));
    }

    /** Runs a server and its client, and returns whether both succeeded. */
    static boolean succeeds(ClientServerPair pair, String address) {
        FutureTask<Integer> server = start(() -> runTool(String.format(Locale.ROOT, pair.server, address)));
        FutureTask<Integer> client = start(() -> runClient(String.format(Locale.ROOT, pair.client, address), server));
        try {
            return client.get(PAIR_SECONDS, TimeUnit.SECONDS) == 0 && server.get(PAIR_SECONDS, TimeUnit.SECONDS) == 0;
        } catch (TimeoutException | ExecutionException skipped) {
            return false;
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static FutureTask<Integer> start(Callable<Integer> side) {
        FutureTask<Integer> task = new FutureTask<>(side);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    /** Repeats the client until it reaches the server, which does not report when it listens. */
    private static int runClient(String words, FutureTask<Integer> server) throws InterruptedException {
        int status = runTool(words);
        for (int tries = 0; status != 0 && tries < TRIES && !server.isDone(); tries++) {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            status = runTool(words);
        }
        return status;
    }

    private static int runTool(String words) {
        ToolEnvironment environment = new ToolEnvironment(silence(), silence());
        return Main.run(List.of(words.split(" ")), environment);
    }

    /** Returns a discarding stream of the kind that {@link Main} creates. */
    private static PrintStream silence() {
        return new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
    }
}
