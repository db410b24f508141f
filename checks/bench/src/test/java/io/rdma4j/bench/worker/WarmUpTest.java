package io.rdma4j.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WarmUpTest {
    private static final Parameters PARAMETERS = Parameters.of("warmUpMillis", 500, "longestWarmUpMillis", 3000);

    private final AtomicLong ticks = new AtomicLong(7);
    private final WarmUp warmUp = WarmUp.begin(0, PARAMETERS, ticks::get);

    private boolean isOverAt(int millis) {
        return warmUp.isOver(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @Test
    void idleCompilersGiveTheMinimumWarmUp() {
        for (int millis = 0; millis < 500; millis += 10) {
            assertThat(isOverAt(millis)).as("%d ms", millis).isFalse();
        }
        assertThat(isOverAt(500)).isTrue();
    }

    @Test
    void warmUpEndsWhenTheCompilersHaveBeenIdleForAWhile() {
        for (int millis = 0; millis <= 1000; millis += 10) {
            ticks.incrementAndGet();
            assertThat(isOverAt(millis)).as("%d ms", millis).isFalse();
        }
        assertThat(isOverAt(1340)).isFalse();
        assertThat(isOverAt(1360)).isTrue();
        assertThat(stillCompiling()).isZero();
    }

    private double stillCompiling() {
        Figures figures = new Figures();
        warmUp.report(figures);
        return figures.values().getOrDefault(Figures.STILL_COMPILING, Double.NaN);
    }

    @Test
    void warmUpEndsAfterTheMaximumTimeRegardlessOfTheCompilers() {
        for (int millis = 0; millis < 3000; millis += 10) {
            ticks.incrementAndGet();
            assertThat(isOverAt(millis)).as("%d ms", millis).isFalse();
        }
        ticks.incrementAndGet();
        assertThat(isOverAt(3000)).isTrue();
        assertThat(stillCompiling()).isOne();
    }

    @Test
    void compilerTicksAreNotNegative() {
        // Read from /proc; 0 on systems without it.
        assertThat(Processors.compilerTicks()).isGreaterThanOrEqualTo(0);
    }
}
