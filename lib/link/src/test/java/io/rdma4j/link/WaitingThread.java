package io.rdma4j.link;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Detects when a thread of a test waits for links. The module {@code fixture}, which has this for all threads, needs this module. */
final class WaitingThread {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** A thread that is about to leave a wait is not in it for so many samples. */
    private static final int SAMPLES = 10;

    private WaitingThread() {}

    /** Waits until ten consecutive samples show the thread in {@link LinkSet#await}. */
    static void await(Thread thread) throws InterruptedException {
        long startNanos = System.nanoTime();
        for (int samples = 0; samples < SAMPLES; ) {
            Thread.sleep(2);
            StackTraceElement[] stack = thread.getStackTrace();
            samples = Arrays.stream(stack).anyMatch(WaitingThread::isWait) ? samples + 1 : 0;
            if (!thread.isAlive() || System.nanoTime() - startNanos > LIMIT_NANOS) {
                throw new AssertionError(thread + " does not wait for links: " + Arrays.toString(stack));
            }
        }
    }

    private static boolean isWait(StackTraceElement frame) {
        return frame.getClassName().endsWith("LinkSet") && frame.getMethodName().equals("await");
    }
}
