package io.rdma4j.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A shared thread ends with its owner only. */
@Timeout(30)
class SharedThreadTest {
    private int runs;

    private static void fail(Throwable fault) {
        if (fault instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) fault;
    }

    @Test
    void faultsOfTheWorkDoNotEndTheThread() throws InterruptedException {
        List<Throwable> faults = List.of(
                new OutOfMemoryError("on purpose"),
                new StackOverflowError("on purpose"),
                new NoClassDefFoundError("on purpose"),
                new IllegalStateException("on purpose"));
        Thread thread = SharedThread.start("shared", () -> {
            runs++;
            if (runs <= faults.size()) {
                fail(faults.get(runs - 1));
            }
            return runs < 8;
        });
        thread.join();
        assertThat(runs).isEqualTo(8);
        assertThat(thread.isDaemon()).isTrue();
    }

    @Test
    void interruptThatTheWorkReportsEndsTheThread() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        Thread thread = SharedThread.start("shared", () -> {
            started.countDown();
            Thread.sleep(60_000);
            return true;
        });
        started.await();
        thread.interrupt();
        thread.join();
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void reportThatFailsIsLost() {
        System.Logger broken = new System.Logger() {
            @Override
            public String getName() {
                return "broken";
            }

            @Override
            public boolean isLoggable(Level level) {
                throw new OutOfMemoryError("on purpose");
            }

            @Override
            public void log(Level level, java.util.ResourceBundle bundle, String text, Throwable thrown) {
                throw new OutOfMemoryError("on purpose");
            }

            @Override
            public void log(Level level, java.util.ResourceBundle bundle, String format, Object... parameters) {
                throw new OutOfMemoryError("on purpose");
            }
        };
        SharedThread.report(broken, "text", new IllegalStateException("on purpose"));
    }
}
