package io.rdma4j.verbs.spi;

import java.util.concurrent.locks.LockSupport;

/**
 * A daemon thread that many connections share. It repeats its work until the owner ends it, whatever the work throws.
 *
 * <p>An exception or an {@link Error}, such as an {@link OutOfMemoryError}, ends one repetition. It is logged, and the next
 * repetition follows after {@value #PAUSE_MILLIS} ms, so that a lasting fault does not keep a processor busy.
 */
public final class SharedThread {
    private static final long PAUSE_MILLIS = 50;

    /** The number of times that {@link #insist} tries, in ten seconds. */
    private static final int MAX_TRIES = 200;

    /** The work of a shared thread. */
    @FunctionalInterface
    public interface Work {
        /**
         * Does a part of the work.
         *
         * @return false if the owner has ended the thread
         * @throws Exception ends this repetition only, except {@link InterruptedException}, by which the owner ends the thread
         */
        boolean run() throws Exception;
    }

    /**
     * An object that a shared thread works for, such as a connection. It fails because of a fault, and the thread continues.
     *
     * @param <T> what the thread was doing, such as an event
     */
    @FunctionalInterface
    public interface Failing<T> {
        /** Fails because of a fault during something. May throw: {@link #insist} repeats it. */
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
                // Handling the fault has failed, too: the heap is full. Java allocates even a constant text at its
                // first use.
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
     * Calls {@link Failing#onFailure} until nothing is thrown, for as long as a heap or a process at its limit may need to recover. It
     * is for the end of one connection, which must not be lost. Needs no memory, and no lambda expression of the caller, which would.
     */
    public static <T> void insist(Failing<T> failing, T during, Throwable fault) {
        for (int left = MAX_TRIES; left > 0; left--) {
            try {
                if (succeeds(failing, during, fault)) {
                    return;
                }
            } catch (Throwable again) {
                // As in run.
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

    /** Does not compose a text: there may be no memory for it. Pauses even if the report fails. */
    private static void pauseAfter(Throwable fault) {
        // A callback of the program may have left the status set, which would keep the thread from waiting.
        var _ = Thread.interrupted();
        try {
            report(SharedThread.class, "A thread that connections share continues after a fault", fault);
        } finally {
            LockSupport.parkNanos(PAUSE_MILLIS * 1_000_000);
        }
    }

    /**
     * Logs a fault as a warning. Never throws: there may be no memory for the text, and a handler of the log may fail.
     *
     * @param source the class that names the logger. It is looked up now: a logger in a field would set up logging before the program
     *     can configure it
     */
    public static void report(Class<?> source, String text, Throwable fault) {
        try {
            System.getLogger(source.getName()).log(System.Logger.Level.WARNING, text, fault);
        } catch (RuntimeException | Error again) {
            // What has failed is handled; only its report is lost.
            return;
        }
    }
}
