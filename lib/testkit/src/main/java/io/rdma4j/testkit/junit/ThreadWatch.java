package io.rdma4j.testkit.junit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The threads that a test starts, directly or through other threads, with the calls that created them. Thread safe,
 * except that the thread that starts the watch also closes it.
 *
 * <p>A thread inherits the context class loader of its creator. During the test this is a class loader of the watch,
 * which identifies the threads of the test if tests run in parallel. An inheritable thread-local variable is notified
 * of each creation by the creating thread, and records its calls. Virtual threads, which cannot be listed, are not
 * watched.
 */
final class ThreadWatch implements AutoCloseable {
    /** A thread of the test that has not ended, and the calls that created it, if they are known. */
    record RunningThread(Thread thread, List<StackTraceElement> creation) {}

    private static final InheritableThreadLocal<@Nullable ThreadWatch> CURRENT =
            new InheritableThreadLocal<@Nullable ThreadWatch>() {
                @Override
                protected @Nullable ThreadWatch childValue(@Nullable ThreadWatch parent) {
                    if (parent != null) {
                        parent.onCreation();
                    }
                    return parent;
                }
            };

    /** Marks the threads of a test; delegates all loading to its parent. */
    private static final class Marker extends ClassLoader {
        Marker(@Nullable ClassLoader parent) {
            super("rdma4j-test", parent);
        }
    }

    private final @Nullable ClassLoader previous;
    private final Marker marker;

    /** The calls that created threads, by a number between the ID of the thread and the ID of the next thread. */
    private final TreeMap<Long, Throwable> creations = new TreeMap<>();

    private boolean closed;

    private ThreadWatch(@Nullable ClassLoader previous) {
        this.previous = previous;
        marker = new Marker(previous);
    }

    /** Starts watching the threads that the current thread creates. */
    static ThreadWatch begin() {
        Thread current = Thread.currentThread();
        ThreadWatch watch = new ThreadWatch(current.getContextClassLoader());
        current.setContextClassLoader(watch.marker);
        CURRENT.set(watch);
        return watch;
    }

    /**
     * Records the calls of a thread that is creating another thread. The ID of a thread that is created now is higher
     * than the ID of that thread.
     */
    private void onCreation() {
        Throwable calls = new Throwable();
        long next = Thread.ofVirtual()
                .inheritInheritableThreadLocals(false)
                .unstarted(() -> {})
                .threadId();
        synchronized (creations) {
            creations.put(next, calls);
        }
    }

    /**
     * Waits for the threads of the test to end.
     *
     * @param timeout the maximum wait
     * @return the threads that have not ended, except JUnit's threads
     */
    List<RunningThread> awaitEnd(Duration timeout) {
        long giveUp = System.nanoTime() + timeout.toNanos();
        List<RunningThread> running = new ArrayList<>();
        for (Thread thread : allThreads()) {
            if (thread.getContextClassLoader() != marker || thread.equals(Thread.currentThread())) {
                continue;
            }
            List<StackTraceElement> calls = creationOf(thread);
            if (!isOfRunner(calls) && !ends(thread, giveUp)) {
                running.add(new RunningThread(thread, calls));
            }
        }
        return running;
    }

    private static boolean ends(Thread thread, long giveUp) {
        try {
            return thread.join(Duration.ofNanos(Math.max(1, giveUp - System.nanoTime())));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return !thread.isAlive();
        }
    }

    private static List<Thread> allThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        for (ThreadGroup parent = root; parent != null; parent = root.getParent()) {
            root = parent;
        }
        Thread[] threads = new Thread[2 * root.activeCount() + 16];
        return Arrays.asList(threads).subList(0, root.enumerate(threads));
    }

    private List<StackTraceElement> creationOf(Thread thread) {
        Throwable calls;
        synchronized (creations) {
            var next = creations.higherEntry(thread.threadId());
            calls = next == null ? null : next.getValue();
        }
        return calls == null
                ? List.of()
                : Arrays.stream(calls.getStackTrace())
                        .dropWhile(call -> call.getClassName().startsWith(ThreadWatch.class.getName())
                                || call.getClassName().startsWith("java."))
                        .toList();
    }

    /** Returns whether JUnit created a thread for itself, such as its thread for timeouts. */
    private static boolean isOfRunner(List<StackTraceElement> calls) {
        return !calls.isEmpty() && calls.getFirst().getClassName().startsWith("org.junit.");
    }

    /** Ends the watch; closing again has no effect. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            CURRENT.remove();
            Thread.currentThread().setContextClassLoader(previous);
        }
    }
}
