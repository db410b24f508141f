package io.rdma4j.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A thread that passes the check can call methods that need 16 KiB of stack. */
class StackReserveTest {
    private static final int SMALL_STACK_BYTES = 256 * 1024;

    /** Frames of {@link #descend} that need about 16 KiB while it is interpreted. */
    private static final int FRAMES = 60;

    private int overflows;
    private int passes;

    /** Fills the stack, and then checks and uses it in each frame that returns. */
    @SuppressWarnings("InfiniteRecursion") // on purpose
    private void fillAndTry() {
        boolean isFull = false;
        try {
            fillAndTry();
        } catch (StackOverflowError full) {
            isFull = true;
        }
        if (!isFull && passes > 0) {
            return; // far enough from the end
        }
        tryOnce();
    }

    private void tryOnce() {
        try {
            StackReserve.require();
        } catch (StackOverflowError refused) {
            overflows++;
            throw refused;
        }
        long _ = descend(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
        passes++;
    }

    /** Has a frame of about 250 bytes while it is interpreted. */
    private static long descend(int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0 ? 0 : descend(frames - 1, b, c, d, e, f, g, h, a) + a + h;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void threadThatPassesHasStackLeft(boolean isCompiled) throws InterruptedException, ExecutionException {
        for (int i = 0; isCompiled && i < 100_000; i++) {
            StackReserve.require();
        }
        for (int round = 0; round < 4; round++) {
            FutureTask<Boolean> task = new FutureTask<>(this::fillAndTry, true);
            Thread thread = new Thread(null, task, "small", SMALL_STACK_BYTES + round * 512L);
            thread.start();
            thread.join();
            assertThat(task.get()).isTrue();
        }
        assertThat(overflows).isPositive();
        assertThat(passes).isPositive();
    }

    @Test
    void virtualThreadPasses() throws InterruptedException, ExecutionException {
        FutureTask<Boolean> task = new FutureTask<>(StackReserve::require, true);
        Thread.ofVirtual().start(task).join();
        assertThat(task.get()).isTrue();
    }
}
