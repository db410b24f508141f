package io.rdma4j.tools;

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
 * What the launcher runs while the Java virtual machine records what a start needs (JEP 483, 514, 515): every tool's help
 * and one short conversation of each kind of tool, server and client in this process. Nothing is printed.
 *
 * <p>It is safe anywhere: it talks to itself only, at a loopback address that nobody else is likely to use, and the
 * launcher gives it a run directory of its own. What fails is left out of the record, and costs time later, nothing else.
 */
public final class StartTraining {
    /** The whole training takes a second; this is for a machine that is in trouble. */
    private static final long LIMIT_SECONDS = 60;

    private static final long CONVERSATION_SECONDS = 10;

    private static final int TRIES = 50;
    private static final long PAUSE_MILLIS = 20;
    private static final int TOO_LATE = 3;

    /**
     * A server and its client, as command lines.
     *
     * @param server {@code %s} is the address
     * @param client {@code %s} is the address
     */
    record Conversation(String server, String client) {}

    /** One of each kind; the most frequent first. */
    static final List<Conversation> CONVERSATIONS = List.of(
            new Conversation("rping -s -a %s -C 2", "rping -c -a %s -C 2 -v -V"),
            new Conversation("rstream -b %s -S 64 -C 2", "rstream -s %s -S 64 -C 2"),
            new Conversation("ucmatose -b %s -C 1", "ucmatose -s %s -C 1"));

    private StartTraining() {}

    /** Runs the training and ends the process; status 0 unless it took too long. */
    public static void main(String[] words) {
        Thread.ofPlatform().daemon().start(StartTraining::endInTime);
        for (Tool tool : Main.tools()) {
            runTool(tool.name() + " --help");
        }
        runTool("ibv_devices");
        runTool("ibv_devinfo");
        String address = address();
        // Where one fails, as without a loopback interface, the others would, too, and each takes its time.
        var _ = CONVERSATIONS.stream().allMatch(conversation -> isHeld(conversation, address));
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
        return String.format(
                Locale.ROOT, "127.%d.%d.%d", random.nextInt(1, 255), random.nextInt(1, 255), random.nextInt(1, 255));
    }

    /** Holds a conversation; whether both sides ended well. */
    static boolean isHeld(Conversation conversation, String address) {
        FutureTask<Integer> serving = start(() -> runTool(String.format(Locale.ROOT, conversation.server, address)));
        FutureTask<Integer> asking =
                start(() -> ask(String.format(Locale.ROOT, conversation.client, address), serving));
        try {
            return asking.get(CONVERSATION_SECONDS, TimeUnit.SECONDS) == 0
                    && serving.get(CONVERSATION_SECONDS, TimeUnit.SECONDS) == 0;
        } catch (TimeoutException | ExecutionException leftOut) {
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

    /** Runs the client until it finds the server, which does not say when it listens. */
    private static int ask(String words, FutureTask<Integer> serving) throws InterruptedException {
        int status = runTool(words);
        for (int tries = 0; status != 0 && tries < TRIES && !serving.isDone(); tries++) {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            status = runTool(words);
        }
        return status;
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
