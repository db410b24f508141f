package io.rdma4j.tools.rping;

import io.rdma4j.tools.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One run of rping in a thread of this process, with what it prints. */
final class RpingRun {
    private static final long TIMEOUT_SECONDS = 30;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ToolEnvironment environment = new ToolEnvironment(
            new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8));
    private final FutureTask<Integer> task;
    private final String words;

    private RpingRun(String words) {
        this.words = words;
        task = new FutureTask<>(() -> new Rping().run(List.of(words.split(" +")), environment));
        Thread.ofPlatform().daemon().name("rping " + words).start(task);
    }

    static RpingRun start(String words) {
        return new RpingRun(words);
    }

    /** Starts a server and waits until it is about to listen, which is what it says. */
    static RpingRun startServer(String words) throws InterruptedException {
        RpingRun run = new RpingRun("-s -d " + words);
        for (int i = 0; i < 1000 && !run.out().contains("rdma_listen\n"); i++) {
            Thread.sleep(10);
        }
        return run;
    }

    /** Runs a client of a server to its end: one that is too early is refused, and another one is started. */
    static RpingRun clientOf(RpingRun server, String words) throws InterruptedException {
        RpingRun client = new RpingRun(words);
        for (int tries = 0; tries < 200 && client.isRefused() && !server.task.isDone(); tries++) {
            Thread.sleep(20);
            client = new RpingRun(words);
        }
        return client;
    }

    private boolean isRefused() throws InterruptedException {
        return status() != 0 && err().contains("RDMA_CM_EVENT_REJECTED, error 8");
    }

    /** The exit status, when it has ended. */
    int status() throws InterruptedException {
        try {
            return task.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("rping " + words + " did not end; out: " + out() + "err: " + err(), e);
        } catch (ExecutionException e) {
            throw new AssertionError("rping " + words + " threw", e);
        }
    }

    String out() {
        return out.toString(StandardCharsets.ISO_8859_1);
    }

    String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    /** The lines with the data, without the steps of {@code -d}. */
    List<String> dataLines() {
        return out().lines().filter(line -> line.contains("ping data: ")).toList();
    }

    /** The lines on standard error that C prints, too. */
    List<String> errorLines() {
        return err().lines().filter(line -> !line.startsWith("rping: ")).toList();
    }

    /** The lines on standard error that explain. */
    List<String> explanations() {
        return err().lines().filter(line -> line.startsWith("rping: ")).toList();
    }
}
