package io.rdma4j.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that no exception of a step ends a shared thread. */
@Timeout(60)
class SharedThreadTest {
    /** An error that cannot be printed for lack of memory. */
    @SuppressWarnings("serial")
    private static final class NoMemory extends OutOfMemoryError {
        @Override
        public String getMessage() {
            throw new OutOfMemoryError("no memory for the text");
        }
    }

    @Test
    void loopContinuesWhateverAStepThrows() {
        Queue<Throwable> failures = new ArrayDeque<>(List.of(
                new OutOfMemoryError("heap"),
                new StackOverflowError(),
                new NoClassDefFoundError("of a handler"),
                new NoMemory(),
                new IllegalStateException(),
                new IOException()));
        SharedThread.run(() -> {
            Throwable next = failures.poll();
            if (next instanceof Error error) {
                throw error;
            }
            if (next instanceof Exception failed) {
                throw failed;
            }
            return false;
        });
        assertThat(failures).isEmpty();
    }

    @Test
    void interruptedLoopContinues() {
        int[] turns = {0};
        SharedThread.run(() -> {
            turns[0]++;
            if (turns[0] == 1) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted");
            }
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return turns[0] < 3;
        });
        assertThat(turns[0]).isEqualTo(3);
    }

    @Test
    void interruptThatTheWorkReportsEndsTheThread() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        Thread thread = SharedThread.start("shared", () -> {
            started.countDown();
            Thread.sleep(60_000); // until it is interrupted
            return true;
        });
        started.await();
        thread.interrupt();
        thread.join();
        assertThat(thread.isAlive()).isFalse();
    }
}
