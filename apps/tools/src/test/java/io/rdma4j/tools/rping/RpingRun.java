package io.rdma4j.tools.rping;

import io.rdma4j.tools.ToolRun;
import java.util.List;

/** One run of rping in a thread of this process, with its output. */
final class RpingRun {
    private final ToolRun run;

    private RpingRun(String words) {
        run = ToolRun.start(new Rping(), words);
    }

    static RpingRun start(String words) {
        return new RpingRun(words);
    }

    /** Starts a server and waits until it listens. */
    static RpingRun startServer(String words) throws InterruptedException {
        RpingRun server = new RpingRun("-s -d " + words);
        server.run.awaitCall(RpingEvents.class, "awaitRequest");
        return server;
    }

    /** Waits for the run to end and returns its exit status. */
    int status() throws InterruptedException {
        return run.status();
    }

    String out() {
        return run.out();
    }

    String err() {
        return run.err();
    }

    /** Returns the lines with the data, without the steps of {@code -d}. */
    List<String> dataLines() {
        return out().lines().filter(line -> line.contains("ping data: ")).toList();
    }

    /** Returns the lines on standard error that C's tool also prints. */
    List<String> errorLines() {
        return err().lines().filter(line -> !line.startsWith("rping: ")).toList();
    }

    /** Returns the lines on standard error that explain errors. */
    List<String> explanations() {
        return err().lines().filter(line -> line.startsWith("rping: ")).toList();
    }
}
