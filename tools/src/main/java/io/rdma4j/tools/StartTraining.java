package io.rdma4j.tools;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What the launcher runs while the Java virtual machine records what a start needs (JEP 483, 514, 515): every tool's help
 * and one short conversation of each kind of tool, server and client in this process. Nothing is printed.
 *
 * <p>It is safe anywhere: it talks to itself only, at a loopback address that nobody else is likely to use, and the
 * launcher gives it a run directory of its own. What fails is left out of the record, and costs time later, nothing else.
 */
public final class StartTraining {
    /** The whole training takes a second; this is for a machine that is in trouble. */
    private static final long LIMIT_SECONDS = 60;

    private static final long CONVERSATION_SECONDS = 5;

    private static final int TRIES = 50;
    private static final long PAUSE_MILLIS = 20;
    private static final int TOO_LATE = 3;

    /** Servers, each with its client; {@code %s} is the address. The frequent ones first. */
    private static final List<List<String>> CONVERSATIONS = List.of(
            List.of("rping -s -a %s -C 2", "rping -c -a %s -C 2 -v -V"),
            List.of("rstream -b %s -S 64 -C 2", "rstream -s %s -S 64 -C 2"),
            List.of("ucmatose -b %s -C 1", "ucmatose -s %s -C 1"));

    private final ExecutorService threads =
            Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());

    private StartTraining() {}

    /** Runs the training and ends the process; status 0 unless it took too long. */
    public static void main(String[] words) {
        new StartTraining().run();
    }

    private void run() {
        Thread.ofPlatform().daemon().start(StartTraining::endInTime);
        for (Tool tool : Main.tools()) {
            runTool(tool.name() + " --help");
        }
        runTool("ibv_devices");
        runTool("ibv_devinfo");
        String address = address();
        for (List<String> pair : CONVERSATIONS) {
            converse(pair.getFirst().formatted(address), pair.getLast().formatted(address));
        }
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

    /** Where all of 127.0.0.0/8 is this host, one that no other process has bound; else the usual one. */
    private static String address() {
        if (!System.getProperty("os.name", "").equals("Linux")) {
            return "127.0.0.1";
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return "127.%d.%d.%d".formatted(random.nextInt(1, 255), random.nextInt(1, 255), random.nextInt(1, 255));
    }

    /** Runs the client until it finds the server, which does not say when it listens. */
    private void converse(String server, String client) {
        Future<Integer> serving = threads.submit(() -> runTool(server));
        Future<Integer> asking = threads.submit(() -> {
            int status = runTool(client);
            for (int tries = 0; status != 0 && tries < TRIES && !serving.isDone(); tries++) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                status = runTool(client);
            }
            return status;
        });
        try {
            var _ = asking.get(CONVERSATION_SECONDS, TimeUnit.SECONDS);
            var _ = serving.get(CONVERSATION_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException leftOut) {
            return;
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    private static int runTool(String words) {
        ToolEnvironment environment = new ToolEnvironment(silence(), silence());
        return Main.run(List.of(words.split(" ")), environment);
    }

    /** A stream of the kind that {@link Main} makes, into nothing. */
    private static PrintStream silence() {
        return new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
    }
}
