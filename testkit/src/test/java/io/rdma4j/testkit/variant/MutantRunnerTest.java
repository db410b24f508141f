package io.rdma4j.testkit.variant;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A hunt tells apart what was found, what was not, and what did not end. */
class MutantRunnerTest {
    @Test
    void runThatDoesNotEndIsNotCaught() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        MutantRunner.Result result = MutantRunner.run(seed -> never.await(), 10, 1);
        never.countDown();
        assertThat(result.isCaught()).isFalse();
        assertThat(result.message()).isEqualTo("seed 0 was not over after 1 second");
    }

    @Test
    void runThatBreaksALawIsCaughtWithItsSeed() throws InterruptedException {
        MutantRunner.Result result = MutantRunner.run(
                seed -> {
                    if (seed == 7) {
                        throw new AssertionError("seven");
                    }
                },
                10,
                60);
        assertThat(result.isCaught()).isTrue();
        assertThat(result.seeds()).isEqualTo(8);
        assertThat(result.message()).isEqualTo("seven");
    }

    @Test
    void runsThatAllEndWellAreNotCaught() throws InterruptedException {
        MutantRunner.Result result = MutantRunner.run(seed -> {}, 10, 60);
        assertThat(result.isCaught()).isFalse();
        assertThat(result.seeds()).isEqualTo(10);
        assertThat(result.message()).isEqualTo("nothing found");
    }
}
