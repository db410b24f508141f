package io.rdma4j.tools;

import java.io.PrintStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a tool sees of its process: two streams, a report for programs, and the wish to end. Thread safe.
 *
 * <p>The tools do not touch {@link System}, so several can run in one process, as the tests do.
 */
public final class ToolEnvironment {
    private final PrintStream out;
    private final PrintStream err;
    private final ToolReport report = new ToolReport();
    private final Set<Runnable> atInterrupt = ConcurrentHashMap.newKeySet();

    /**
     * Creates an environment.
     *
     * @param out standard output
     * @param err standard error
     */
    public ToolEnvironment(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Standard output. */
    public PrintStream out() {
        return out;
    }

    /** Standard error. */
    public PrintStream err() {
        return err;
    }

    /** What goes into the JSON document of {@code --json}. */
    public ToolReport report() {
        return report;
    }

    /** Has {@code action} done when the process is asked to end (SIGINT, SIGTERM); it must be short. */
    public void onInterrupt(Runnable action) {
        atInterrupt.add(action);
    }

    /** Takes an action of {@link #onInterrupt} back. */
    public void removeOnInterrupt(Runnable action) {
        atInterrupt.remove(action);
    }

    /** Does what {@link #onInterrupt} collected; called once, when the process is asked to end. */
    public void interrupt() {
        atInterrupt.forEach(Runnable::run);
    }
}
