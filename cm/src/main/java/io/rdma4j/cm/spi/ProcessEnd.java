package io.rdma4j.cm.spi;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Work that is to be done when the process ends, while connections still carry data. A provider runs it in its shutdown
 * hook before it tells the peers that this process has gone; shutdown hooks by themselves have no order. Thread safe.
 */
public final class ProcessEnd {
    private static final List<Runnable> TASKS = new CopyOnWriteArrayList<>();

    private ProcessEnd() {}

    /**
     * Adds work. It must end by itself after a bounded time, since the process waits for it.
     *
     * @param task may be run more than once, by any thread
     */
    public static void beforeParting(Runnable task) {
        TASKS.add(task);
    }

    /** Does all the work, and returns when it is done. For providers. */
    public static void runTasks() {
        TASKS.forEach(Runnable::run);
    }
}
