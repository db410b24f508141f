package io.rdma4j.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.rdma4j.testkit.junit.LeakError;
import io.rdma4j.testkit.junit.RdmaFabricExtension;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The test in {@link ForgottenMemory} fails, and names the line that registered the memory. */
class ForgottenMemoryTest {
    @Test
    void theLeakFailsTheTest(@TempDir Path captures) {
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(ForgottenMemory.class))
                .configurationParameter(RdmaFabricExtension.FOLDER_PROPERTY, captures.toString())
                .execute()
                .testEvents();
        tests.assertStatistics(counts -> counts.failed(1));
        assertThat(tests.failed().stream()
                        .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                        .map(result -> result.getThrowable().orElseThrow()))
                .singleElement()
                .isInstanceOf(LeakError.class)
                .asString()
                .contains("memory region key 0x")
                .contains("ForgottenMemory.publish(ForgottenMemory.java:");
    }
}
