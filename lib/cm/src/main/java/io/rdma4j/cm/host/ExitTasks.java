package io.rdma4j.cm.host;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tasks to run when the process exits, while connections still carry data. A provider runs them in its shutdown hook
 * before it notifies the peers that this process exits, since shutdown hooks have no defined order. Thread safe.
 */
public final class ExitTasks {
    private static final List<Runnable> TASKS = new CopyOnWriteArrayList<>();

    private ExitTasks() {}

    /**
     * Adds a task. It must finish within a bounded time, since the process waits for it.
     *
     * @param task the task, which any thread may run, more than once
     */
    public static void addTask(Runnable task) {
        TASKS.add(task);
    }

    /** Runs all tasks, and returns when they have finished. For providers. */
    public static void runTasks() {
        TASKS.forEach(Runnable::run);
    }
}
