package io.rdma4j.tools;

import java.io.PrintStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A tool's view of its process: two output streams, a machine-readable report, and interrupt handlers. Thread safe.
 *
 * <p>The tools do not use {@link System}, so several can run in one process, as the tests do.
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

    /** Returns the standard output. */
    public PrintStream out() {
        return out;
    }

    /** Returns the standard error. */
    public PrintStream err() {
        return err;
    }

    /** Returns the report that becomes the JSON document of {@code --json}. */
    public ToolReport report() {
        return report;
    }

    /** Registers an action to run when the process is asked to end (SIGINT, SIGTERM). The action must be short. */
    public void onInterrupt(Runnable action) {
        atInterrupt.add(action);
    }

    /** Removes an action that {@link #onInterrupt} registered. */
    public void removeOnInterrupt(Runnable action) {
        atInterrupt.remove(action);
    }

    /** Runs the registered actions. Called once, when the process is asked to end. */
    public void interrupt() {
        atInterrupt.forEach(Runnable::run);
    }
}
