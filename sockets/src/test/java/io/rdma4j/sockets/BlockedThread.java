package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;

/** Tells when a thread of a test waits. */
public final class BlockedThread {
    private BlockedThread() {}

    /** Waits until the thread waits for the kernel or for another thread, ten looks in turn. */
    public static void await(Thread thread) throws InterruptedException {
        for (int looks = 0; looks < 10; ) {
            Thread.sleep(2);
            assertThat(thread.isAlive()).as("the call blocks").isTrue();
            StackTraceElement[] stack = thread.getStackTrace();
            boolean parked = thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING
                    || Arrays.stream(stack).limit(32).anyMatch(BlockedThread::isWait);
            looks = parked ? looks + 1 : 0;
        }
    }

    private static boolean isWait(StackTraceElement frame) {
        return frame.isNativeMethod()
                || frame.getClassName().startsWith("io.rdma4j.sockets.io")
                        && frame.getMethodName().contains("await");
    }
}
