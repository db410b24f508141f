package io.rdma4j.tools.rping;

import io.rdma4j.tools.ToolRun;
import java.util.List;

/** One run of rping in a thread of this process, with what it prints. */
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

    /** The exit status, when it has ended. */
    int status() throws InterruptedException {
        return run.status();
    }

    String out() {
        return run.out();
    }

    String err() {
        return run.err();
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
