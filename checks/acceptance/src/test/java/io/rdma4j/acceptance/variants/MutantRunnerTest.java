package io.rdma4j.acceptance.variants;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests that the runner distinguishes mutants that are caught, those that are not, and runs that do not finish. */
class MutantRunnerTest {
    @Test
    void runThatDoesNotFinishIsNotCaught() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        MutantRunner.Result result = MutantRunner.run(seed -> never.await(), 10, 1);
        never.countDown();
        assertThat(result.isCaught()).isFalse();
        assertThat(result.message()).isEqualTo("seed 0 had not finished after 1 second");
    }

    @Test
    void failingRunIsCaughtWithItsSeed() throws InterruptedException {
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
    void successfulRunsAreNotCaught() throws InterruptedException {
        MutantRunner.Result result = MutantRunner.run(seed -> {}, 10, 60);
        assertThat(result.isCaught()).isFalse();
        assertThat(result.seeds()).isEqualTo(10);
        assertThat(result.message()).isEqualTo("nothing found");
    }
}
