package io.rdma4j.sockets.async;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The timeouts of all asynchronous channels of the process. */
final class Timeouts {
    private static final ScheduledThreadPoolExecutor TIMER = timer();

    private Timeouts() {}

    private static ScheduledThreadPoolExecutor timer() {
        ScheduledThreadPoolExecutor created = new ScheduledThreadPoolExecutor(
                1,
                Thread.ofPlatform()
                        .daemon()
                        .name("rdma4j-asynchronous-timeouts")
                        .factory());
        created.setRemoveOnCancelPolicy(true);
        return created;
    }

    /** Runs a task after a delay, unless the result is cancelled. */
    static Future<?> schedule(Runnable task, long time, TimeUnit unit) {
        return TIMER.schedule(task, time, unit);
    }
}
