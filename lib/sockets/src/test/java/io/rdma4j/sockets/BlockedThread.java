package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;

/** Detects when a thread of a test blocks. */
public final class BlockedThread {
    private BlockedThread() {}

    /** Waits until ten consecutive samples show the thread waiting for the kernel or for another thread. */
    public static void await(Thread thread) throws InterruptedException {
        for (int samples = 0; samples < 10; ) {
            Thread.sleep(2);
            assertThat(thread.isAlive()).as("the call blocks").isTrue();
            StackTraceElement[] stack = thread.getStackTrace();
            boolean parked = thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING
                    || Arrays.stream(stack).limit(32).anyMatch(BlockedThread::isWait);
            samples = parked ? samples + 1 : 0;
        }
    }

    private static boolean isWait(StackTraceElement frame) {
        return frame.isNativeMethod()
                || frame.getClassName().startsWith("io.rdma4j.sockets.io")
                        && frame.getMethodName().contains("await");
    }
}
