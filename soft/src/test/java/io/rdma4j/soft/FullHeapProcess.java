package io.rdma4j.soft;

import io.rdma4j.verbs.wait.SharedThread;
import org.jspecify.annotations.Nullable;

/** A process whose heap has not a byte left when the work of a shared thread fails for the first time. */
public final class FullHeapProcess {
    private static final OutOfMemoryError FAULT = new OutOfMemoryError("of the work");

    private static Object @Nullable [] full;
    private static int turns;

    private FullHeapProcess() {}

    /** Runs the process. */
    public static void main(String[] arguments) {
        SharedThread.run(() -> {
            turns++;
            if (turns == 1) {
                fill();
                throw FAULT;
            }
            full = null;
            return false;
        });
        System.out.println("= " + turns);
    }

    private static void fill() {
        int length = 1 << 20;
        while (length > 0) {
            try {
                Object[] next = new Object[length];
                next[0] = full;
                full = next;
            } catch (OutOfMemoryError noMore) {
                length /= 2;
            }
        }
    }
}
