package io.rdma4j.soft.engine;

import java.util.concurrent.locks.LockSupport;

/** One thread in one wait. */
final class EngineWaiter {
    private final WaitCoordinator waitCoordinator;
    final Thread thread;

    EngineWaiter(WaitCoordinator waitCoordinator, Thread thread) {
        this.waitCoordinator = waitCoordinator;
        this.thread = thread;
    }

    /** Whether this thread may block in the kernel; a virtual thread would take its carrier along. */
    boolean mayLead() {
        return !thread.isVirtual();
    }

    /** Lets the thread look again whether its wait is over, wherever it is blocked; one that asks for itself does so anyway. */
    void wake() {
        if (thread.equals(Thread.currentThread())) {
            return;
        }
        LockSupport.unpark(thread);
        waitCoordinator.wakeIfLeader(this);
    }
}
