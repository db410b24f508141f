package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One run of the umbrella command in a thread of this process, with its output. */
public final class ToolRun {
    private static final long TIMEOUT_SECONDS = 240;
    private static final int DEFECT = 70;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final FutureTask<Integer> task;
    private final String words;
    private final ToolEnvironment environment;
    private final Thread thread;

    private ToolRun(String words) {
        this.words = words;
        environment = new ToolEnvironment(
                new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8));
        List<String> split = Arrays.stream(words.strip().split(" +"))
                .map(word -> word.equals("''") ? "" : word)
                .toList();
        task = new FutureTask<>(() -> Main.run(split, environment));
        thread = Thread.ofPlatform().daemon().name(words).start(task);
    }

    /** Starts a tool with the words of its command line; {@code ''} is an empty word. */
    public static ToolRun start(String words) {
        return new ToolRun(words);
    }

    /** Starts a tool with the words of its command line. */
    public static ToolRun start(Tool tool, String words) {
        return new ToolRun(tool.name() + " " + words);
    }

    /** Runs a tool until it ends. */
    public static ToolRun of(Tool tool, String words) throws InterruptedException {
        ToolRun run = start(tool, words);
        run.status();
        return run;
    }

    /** Interrupts the tool, like SIGINT. */
    public void interrupt() {
        environment.interrupt();
    }

    /** Returns whether the tool has ended. */
    public boolean hasEnded() {
        return task.isDone();
    }

    /** Waits until standard output or standard error contains {@code text}. */
    public ToolRun awaitText(String text) throws InterruptedException {
        for (int i = 0; i < 1000 && !out().contains(text) && !err().contains(text); i++) {
            Thread.sleep(10);
        }
        return this;
    }

    /** Waits until the tool waits for an event of the connection manager, or has ended. A server is then listening. */
    public ToolRun awaitListening() throws InterruptedException {
        return awaitCall(EventChannel.class, "await");
    }

    /**
     * Waits until the tool is in a method, or has ended.
     *
     * <p>The C tools' servers do not report when they listen, and a client that connects too early is rejected. The
     * stack trace shows when a server waits for requests.
     */
    public ToolRun awaitCall(Class<?> type, String method) throws InterruptedException {
        for (int i = 0; i < 1000 && !hasEnded() && !isIn(type, method); i++) {
            Thread.sleep(10);
        }
        return this;
    }

    private boolean isIn(Class<?> type, String method) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(type.getName())
                        && frame.getMethodName().equals(method));
    }

    /** Waits for the tool to end and returns its exit status. */
    public int status() throws InterruptedException {
        try {
            return task.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(words + " did not end; out: " + out() + "err: " + err(), e);
        } catch (ExecutionException e) {
            throw new AssertionError(words + " threw", e);
        }
    }

    /** Waits for the tool to end and requires a failure with a message, but no unexpected exception. */
    public void requireRefused() throws InterruptedException {
        assertThat(status() & 0xff).as(out() + err()).isNotIn(0, DEFECT);
        assertThat(out() + err()).isNotBlank();
        assertThat(err()).doesNotContain("defect", "Exception", "failed unexpectedly");
    }

    /** Returns the standard output so far. */
    public String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Returns the standard error so far. */
    public String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
