package io.rdma4j.verbs.spi;

import java.util.concurrent.locks.LockSupport;

/**
 * A daemon thread that many connections share. It repeats its work until the owner ends it, even if the work throws.
 *
 * <p>An exception or an {@link Error}, such as an {@link OutOfMemoryError}, ends only one repetition. The thread logs
 * it, and pauses for {@value #PAUSE_MILLIS} ms, so that a lasting fault does not keep a processor busy.
 */
public final class SharedThread {
    private static final long PAUSE_MILLIS = 50;

    /** The maximum number of tries of {@link #insist}, which take ten seconds. */
    private static final int MAX_TRIES = 200;

    /** The work of a shared thread. */
    @FunctionalInterface
    public interface Work {
        /**
         * Does a part of the work.
         *
         * @return false if the owner has ended the thread
         * @throws Exception ends only this repetition, except {@link InterruptedException}, with which the owner ends
         *     the thread
         */
        boolean run() throws Exception;
    }

    /**
     * An object that a shared thread works for, such as a connection. After a fault the object fails, and the thread
     * continues.
     *
     * @param <T> the thread's activity, such as an event
     */
    @FunctionalInterface
    public interface Failing<T> {
        /** Makes the object fail because of a fault. May throw: {@link #insist} then repeats the call. */
        void onFailure(T during, Throwable fault);
    }

    private SharedThread() {}

    /** Returns a thread that is not started. */
    public static Thread unstarted(String name, Work work) {
        Thread thread = new Thread(() -> run(work), name);
        thread.setDaemon(true);
        return thread;
    }

    /** Starts a thread. */
    public static Thread start(String name, Work work) {
        Thread thread = unstarted(name, work);
        thread.start();
        return thread;
    }

    /** Repeats work in the current thread until it returns false. */
    public static void run(Work work) {
        boolean continues = true;
        while (continues) {
            try {
                continues = repeat(work);
            } catch (Throwable again) {
                // Handling the fault also failed, because the heap is full. Java allocates even a string constant at
                // its first use.
            }
        }
    }

    @SuppressWarnings("Interruption") // the thread ends
    private static boolean repeat(Work work) {
        try {
            return work.run();
        } catch (InterruptedException ended) {
            return false;
        } catch (Throwable fault) {
            pauseAfter(fault);
            return true;
        }
    }

    /**
     * Calls {@link Failing#onFailure} until it does not throw, or until the tries are used up. A heap or a process at
     * its limit may recover meanwhile. It reports the end of a connection, which must not be lost. It allocates
     * nothing, and needs no lambda expression of the caller, which would allocate.
     */
    public static <T> void insist(Failing<T> failing, T during, Throwable fault) {
        for (int left = MAX_TRIES; left > 0; left--) {
            try {
                if (succeeds(failing, during, fault)) {
                    return;
                }
            } catch (Throwable again) {
                // See run().
            }
        }
    }

    private static <T> boolean succeeds(Failing<T> failing, T during, Throwable fault) {
        try {
            failing.onFailure(during, fault);
            return true;
        } catch (Throwable again) {
            pauseAfter(again);
            return false;
        }
    }

    /** Logs a fault and pauses, even if logging fails. Composes no text, for which memory may be missing. */
    private static void pauseAfter(Throwable fault) {
        // A callback of the program may have left the interrupt status set, which would prevent the pause.
        var _ = Thread.interrupted();
        try {
            report(SharedThread.class, "A thread that connections share continues after a fault", fault);
        } finally {
            LockSupport.parkNanos(PAUSE_MILLIS * 1_000_000);
        }
    }

    /**
     * Logs a fault as a warning. Never throws, even if memory for the text is missing, or a log handler fails.
     *
     * @param source the class that names the logger. The logger is looked up at each call: a logger in a field would
     *     set up logging before the program can configure it
     */
    public static void report(Class<?> source, String text, Throwable fault) {
        try {
            System.getLogger(source.getName()).log(System.Logger.Level.WARNING, text, fault);
        } catch (RuntimeException | Error again) {
            // Only the report is lost; the caller has handled the fault.
            return;
        }
    }
}
