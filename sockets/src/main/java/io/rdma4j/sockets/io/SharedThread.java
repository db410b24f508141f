package io.rdma4j.sockets.io;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;

/**
 * The loop of a thread that many sockets share. Whatever a step throws, even an error of the virtual machine, the thread
 * continues: the others still need it. A step fails what belongs to one socket by itself.
 */
public final class SharedThread {
    /** One turn of the loop. */
    public interface Step {
        /** Runs the turn. Returns false if the loop is over. */
        boolean run() throws IOException;
    }

    /** After a failure, so that one that repeats, such as for a full heap, does not occupy a processor. */
    private static final long PAUSE_NANOS = 10_000_000;

    /** Number of pauses in ten seconds. */
    private static final int MAX_TRIES = 1000;

    private SharedThread() {}

    /**
     * Starts a daemon thread.
     *
     * @param name the name of the thread
     * @param step repeated until it returns false
     */
    public static Thread start(String name, Step step) {
        return Thread.ofPlatform().daemon().name(name).start(() -> run(step));
    }

    /** Repeats a step in the current thread until it returns false. */
    public static void run(Step step) {
        boolean isRunning = true;
        while (isRunning) {
            try {
                isRunning = step.run();
            } catch (Throwable failed) {
                onFailure(failed);
            }
        }
    }

    private static void onFailure(Throwable failed) {
        try {
            var _ = Thread.interrupted(); // no code has a reason to interrupt a shared thread
            System.getLogger(SharedThread.class.getName())
                    .log(Level.WARNING, "A thread that sockets share continues after a failure", failed);
        } catch (Throwable noMemoryForThat) {
            // The thread continues nevertheless.
        }
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    /**
     * Runs a task until nothing is thrown, for as long as a heap or a process at its limit may need to recover. To be used
     * for what fails one socket, which must not be lost.
     */
    static void insist(Runnable task) {
        for (int left = MAX_TRIES; left > 0; left--) {
            try {
                task.run();
                return;
            } catch (Throwable failed) {
                onFailure(failed);
            }
        }
    }
}
