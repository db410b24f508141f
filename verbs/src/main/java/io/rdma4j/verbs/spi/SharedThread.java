package io.rdma4j.verbs.spi;

import java.util.concurrent.locks.LockSupport;

/**
 * A daemon thread that many connections share. It repeats its work until the owner ends it, whatever the work throws.
 *
 * <p>An exception or an {@link Error}, such as an {@link OutOfMemoryError}, ends one repetition. It is logged, and the next
 * repetition follows after {@value #PAUSE_MILLIS} ms, so that a lasting fault does not keep a processor busy.
 */
public final class SharedThread {
    private static final System.Logger LOGGER = System.getLogger(SharedThread.class.getName());
    private static final long PAUSE_MILLIS = 50;

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

    private SharedThread() {}

    /** Returns a thread that is not started. */
    public static Thread unstarted(String name, Work work) {
        String text = name + " continues after a fault"; // composed now: there may be no memory for it later
        Thread thread = new Thread(() -> repeat(work, text), name);
        thread.setDaemon(true);
        return thread;
    }

    /** Starts a thread. */
    public static Thread start(String name, Work work) {
        Thread thread = unstarted(name, work);
        thread.start();
        return thread;
    }

    @SuppressWarnings("Interruption") // the thread ends
    private static void repeat(Work work, String text) {
        boolean continues = true;
        while (continues) {
            try {
                continues = work.run();
            } catch (InterruptedException ended) {
                continues = false;
            } catch (Throwable fault) {
                report(LOGGER, text, fault);
                LockSupport.parkNanos(PAUSE_MILLIS * 1_000_000);
            }
        }
    }

    /** Logs a fault as a warning. Never throws: there may be no memory for the text, and a handler of the log may fail. */
    public static void report(System.Logger logger, String text, Throwable fault) {
        try {
            logger.log(System.Logger.Level.WARNING, text, fault);
        } catch (RuntimeException | Error again) {
            // What has failed is handled; only its report is lost.
            return;
        }
    }
}
