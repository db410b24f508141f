package io.rdma4j.tools.command;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A tool's view of its process: two output streams, a machine-readable report, and interrupt handlers. Thread safe.
 *
 * <p>An interrupt silences the streams: C's tools print nothing after a signal has ended them, but the threads of this
 * process continue until its peers are disconnected.
 *
 * <p>The tools do not use {@link System}, so several can run in one process, as the tests do.
 */
public final class ToolEnvironment {
    private final PrintStream documentOut;
    private final PrintStream out;
    private final PrintStream err;
    private final RdmaAccess rdma;
    private volatile WarmUpChoice warmUp = WarmUpChoice.NEVER;
    private volatile boolean isForPrograms;
    private volatile boolean silent;
    private final ToolReport report = new ToolReport();
    private final Set<Runnable> atInterrupt = ConcurrentHashMap.newKeySet();

    /**
     * Creates an environment with the devices of this process, in which no tool warms up.
     *
     * @param out standard output
     * @param err standard error
     */
    public ToolEnvironment(PrintStream out, PrintStream err) {
        this(out, err, RdmaAccess.OF_PROCESS);
    }

    /** Creates an environment with other devices, in which no tool warms up. */
    ToolEnvironment(PrintStream out, PrintStream err, RdmaAccess rdma) {
        documentOut = out;
        this.rdma = rdma;
        this.out = new PrintStream(new UntilInterrupt(out), true, StandardCharsets.UTF_8);
        this.err = new PrintStream(new UntilInterrupt(err), true, StandardCharsets.UTF_8);
    }

    /** Returns the devices, identifiers and sockets that the tool uses. */
    public RdmaAccess rdma() {
        return rdma;
    }

    /** Sets which tools warm up before they run. The default is {@link WarmUpChoice#NEVER}. */
    public void warmUp(WarmUpChoice choice) {
        warmUp = choice;
    }

    /** Returns which tools warm up before they run. */
    public WarmUpChoice warmUp() {
        return warmUp;
    }

    /** Records that the report is printed as a JSON document, so that a tool needs no live display. */
    public void forPrograms() {
        isForPrograms = true;
    }

    /** Returns whether the report is printed as a JSON document ({@code --json}). */
    public boolean isForPrograms() {
        return isForPrograms;
    }

    /** Returns the standard output. */
    public PrintStream out() {
        return out;
    }

    /** Returns the standard error. */
    public PrintStream err() {
        return err;
    }

    /** Returns the standard output for the JSON document, which is printed even after an interrupt. */
    public PrintStream documentOut() {
        return documentOut;
    }

    /** Returns the report that becomes the JSON document of {@code --json}. */
    public ToolReport report() {
        return report;
    }

    /** Registers an action to run on SIGINT and SIGTERM. The action must be short. */
    public void onInterrupt(Runnable action) {
        atInterrupt.add(action);
    }

    /** Removes an action that {@link #onInterrupt} registered. */
    public void removeOnInterrupt(Runnable action) {
        atInterrupt.remove(action);
    }

    /** Silences the streams and runs the registered actions. Called on SIGINT and SIGTERM. */
    public void interrupt() {
        silent = true;
        atInterrupt.forEach(ToolEnvironment::runQuietly);
    }

    private static void runQuietly(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException ignored) {
            // The other actions must still run, and the process ends anyway.
            return;
        }
    }

    /** A stream that forwards to another one until the interrupt. */
    private final class UntilInterrupt extends OutputStream {
        private final PrintStream inner;

        UntilInterrupt(PrintStream inner) {
            this.inner = inner;
        }

        @Override
        public void write(int oneByte) {
            if (!silent) {
                inner.write(oneByte);
            }
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            if (!silent) {
                inner.write(bytes, offset, length);
            }
        }

        @Override
        public void flush() {
            inner.flush();
        }
    }
}
