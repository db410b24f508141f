package io.rdma4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A run distinguishes tests that failed from those that need a missing feature of the device. */
class ResultsTest {
    private static final String LACK = "mlx5_0 lacks memory windows (ibv_query_device: max_mw 0)";

    static class Windows {
        @BeforeEach
        void require() {
            assumeTrue(false, LACK);
        }

        @Test
        void isAborted() {
            assertThat(1).isZero();
        }

        @Test
        void isAbortedToo() {
            assertThat(1).isZero();
        }
    }

    static class Operations {
        @Test
        void passes() {
            assertThat(1).isOne();
        }
    }

    static class Wrong {
        @Test
        void fails() {
            throw new IllegalStateException("the reason");
        }
    }

    private static Results run(Class<?>... classes) {
        return run(new Results(null), classes);
    }

    private static Results run(Results results, Class<?>... classes) {
        var request = LauncherDiscoveryRequestBuilder.request();
        for (Class<?> each : classes) {
            request.selectors(selectClass(each));
        }
        LauncherFactory.create().execute(request.build(), results);
        return results;
    }

    private static String printed(Results results) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        results.print("mlx5_0", new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void lackIsCountedAndNamedAndDoesNotFailTheRun() {
        Results results = run(Windows.class, Operations.class);
        assertThat(results.hasFailed()).isFalse();
        assertThat(printed(results))
                .containsPattern("run\\.ResultsTest\\$Windows +0 +0 +2 ")
                .containsPattern("run\\.ResultsTest\\$Operations +1 +0 +0 ")
                .containsPattern("all of mlx5_0 +1 +0 +2 ")
                .contains("lacks: " + LACK + ": 2 tests")
                .doesNotContain("failed: ");
    }

    @Test
    void failureFailsTheRunAndIsNamedWithItsReason() {
        Results results = run(Wrong.class);
        assertThat(results.hasFailed()).isTrue();
        assertThat(printed(results))
                .containsPattern("all of mlx5_0 +0 +1 +0 ")
                .contains("failed: run.ResultsTest$Wrong.fails(): java.lang.IllegalStateException: the reason");
    }

    @Test
    void progressNamesEachTestAndThePlaceOfEachFailure() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        run(new Results(new PrintStream(bytes, true, StandardCharsets.UTF_8)), Wrong.class, Operations.class);
        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .contains("run.ResultsTest$Wrong.fails() ...", "run.ResultsTest$Wrong.fails(): FAILED, ")
                .contains("java.lang.IllegalStateException: the reason", "\tat " + Wrong.class.getName() + ".fails(")
                .contains("run.ResultsTest$Operations.passes(): SUCCESSFUL, ");
    }

    @Test
    void runWithoutTestsIsEmpty() {
        assertThat(run().isEmpty()).isTrue();
        assertThat(run(Operations.class).isEmpty()).isFalse();
    }
}
