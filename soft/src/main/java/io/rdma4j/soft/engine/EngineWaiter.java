package io.rdma4j.soft.engine;

import java.util.concurrent.locks.LockSupport;

/** A thread in one wait. */
final class EngineWaiter {
    private final WaitCoordinator waitCoordinator;
    final Thread thread;

    EngineWaiter(WaitCoordinator waitCoordinator, Thread thread) {
        this.waitCoordinator = waitCoordinator;
        this.thread = thread;
    }

    /** Returns whether this thread may block in the kernel; a virtual thread would block its carrier, too. */
    boolean mayLead() {
        return !thread.isVirtual();
    }

    /** Makes the thread check its condition again, wherever it is blocked. The current thread checks it anyway. */
    void wake() {
        if (thread.equals(Thread.currentThread())) {
            return;
        }
        LockSupport.unpark(thread);
        waitCoordinator.wakeIfLeader(this);
    }
}
