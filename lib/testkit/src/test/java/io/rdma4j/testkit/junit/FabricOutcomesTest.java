package io.rdma4j.testkit.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.rdma4j.fixture.RoceCapture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.Events;

/** Runs tests with {@link RdmaFabric} in a separate engine, and checks their output, their files and their failures. */
class FabricOutcomesTest {
    private static final String SEED = "4711";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path captures;

    private String printed = "";

    @BeforeEach
    void clear() {
        printed = "";
    }

    private Events run(Class<?> sample, Map<String, String> parameters) {
        PrintStream original = System.err;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setErr(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            return EngineTestKit.engine("junit-jupiter")
                    .selectors(selectClass(sample))
                    .configurationParameter(RdmaFabricExtension.FOLDER_PROPERTY, captures.toString())
                    .configurationParameters(parameters)
                    .execute()
                    .testEvents();
        } finally {
            System.setErr(original);
            printed = output.toString(StandardCharsets.UTF_8);
        }
    }

    private Events run(Class<?> sample) {
        return run(sample, Map.of());
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(captures)) {
            return files.toList();
        }
    }

    /** Returns the failure of a test method as text. */
    private static String failure(Events events, String method) {
        Event failed = events.failed().stream()
                .filter(event ->
                        event.getTestDescriptor().getUniqueId().toString().contains(method))
                .findFirst()
                .orElseThrow(() -> new AssertionError(method + " has not failed"));
        return failed.getRequiredPayload(TestExecutionResult.class)
                .getThrowable()
                .orElseThrow()
                .toString();
    }

    @Test
    void aTestThatPassesPrintsAndLeavesNothing() throws IOException {
        run(FabricSamples.Passing.class).assertStatistics(counts -> counts.succeeded(1));
        assertThat(printed).isEmpty();
        assertThat(files()).isEmpty();
    }

    @Test
    void aTestThatFailsPrintsItsSeedTheLastPacketsAndTheCapture() throws IOException {
        run(FabricSamples.Failing.class, Map.of(RdmaFabricExtension.SEED_PROPERTY, SEED))
                .assertStatistics(counts -> counts.failed(1));
        Path capture = captures.resolve("FabricSamples.Failing.fails-4711.pcapng");
        assertThat(files()).containsExactly(capture);
        long sent = RoceCapture.read(capture).frames().size();
        assertThat(sent).isGreaterThan(20);
        assertThat(printed)
                .contains("the test FabricSamples.Failing.fails failed")
                .contains("seed: 4711, repeat with -Drdma4j.test.seed=4711")
                .contains("left (10.0.0.1), right (10.0.0.2), loss=5%")
                .contains("the last of " + sent + " packets:")
                .contains("capture for Wireshark: " + capture);
        assertThat(printed.lines().filter(line -> line.contains(" 10.0.0.1 > 10.0.0.2 ")))
                .hasSizeBetween(5, 20);
        assertThat(printed.lines()).anyMatch(line -> line.contains("RC_WRITE_LAST"));
    }

    @Test
    void theSameSeedGivesTheSamePacketsAgain() throws IOException {
        Path capture = captures.resolve("FabricSamples.Failing.fails-4711.pcapng");
        Map<String, String> seed = Map.of(RdmaFabricExtension.SEED_PROPERTY, SEED);
        run(FabricSamples.Failing.class, seed);
        String first = printed;
        byte[] packets = Files.readAllBytes(capture);
        run(FabricSamples.Failing.class, seed);
        assertThat(printed).isEqualTo(first);
        assertThat(capture).hasBinaryContent(packets);
        run(FabricSamples.Failing.class);
        assertThat(printed).doesNotContain("seed: 4711,");
    }

    @Test
    void theNumberOfPrintedPacketsIsAProperty() {
        run(FabricSamples.Failing.class, Map.of(RdmaFabricExtension.LINES_PROPERTY, "3"));
        assertThat(printed.lines().filter(line -> line.contains(" > "))).hasSize(3);
    }

    @Test
    void anAssumptionThatDoesNotHoldIsNotAFailure() throws IOException {
        run(FabricSamples.Aborted.class).assertStatistics(counts -> counts.aborted(1));
        assertThat(printed).isEmpty();
        assertThat(files()).isEmpty();
    }

    @Test
    void anOpenMemoryRegionFailsTheTestAndIsNamed() throws IOException {
        Events events = run(FabricSamples.LeakingRegion.class);
        assertThat(failure(events, "leavesARegion"))
                .contains("LeakError: the test has left an object or thread")
                .contains("memory region key 0x")
                .contains("64 bytes")
                .contains("was left open, created")
                .contains("FabricSamples$LeakingRegion.leavesARegion(FabricSamples.java:");
        assertThat(printed).contains("seed: ").contains("capture for Wireshark");
        assertThat(files()).hasSize(1);
    }

    @Test
    void anOpenQueuePairFailsTheTestAndIsNamed() {
        assertThat(failure(run(FabricSamples.LeakingQueuePair.class), "leavesAQueuePair"))
                .contains("the test has left 4 objects and threads")
                .contains("context of rdma4j_eth0")
                .contains("protection domain")
                .contains("completion queue of")
                .contains("queue pair 0x")
                .contains("FabricSamples$LeakingQueuePair.leavesAQueuePair(FabricSamples.java:");
        assertThat(printed).contains("no packet was sent");
    }

    @Test
    void aRunningThreadFailsTheTestAndIsNamed() {
        Events events = run(FabricSamples.LeakingThread.class);
        FabricSamples.LeakingThread.END.countDown();
        events.assertStatistics(counts -> counts.succeeded(1).failed(1));
        assertThat(failure(events, "leavesAThread"))
                .contains("thread 'left-behind' is still running, created")
                .contains("FabricSamples$LeakingThread.leavesAThread(FabricSamples.java:");
    }

    @Test
    void aTestMayDisableTheLeakCheck() {
        run(FabricSamples.LeakingOnPurpose.class).assertStatistics(counts -> counts.succeeded(1));
    }

    @Test
    void wrongParametersAreNamed() {
        Events events = run(FabricSamples.WrongParameters.class);
        events.assertStatistics(counts -> counts.failed(5));
        assertThat(failure(events, "thereIsNoThirdHost")).contains("the network has 2,");
        assertThat(failure(events, "thereIsNoHostOfThatName"))
                .contains("no host 'server'")
                .contains("host1 (10.0.0.1)");
        assertThat(failure(events, "thereIsNoVirtualTime")).contains("time = FabricTime.VIRTUAL");
        assertThat(failure(events, "thereIsNoSuchLoss")).contains("'much' is not a percentage or fraction");
        assertThat(failure(events, "nothingArrives"))
                .contains("could not be connected")
                .contains("no client has connected");
    }

    @Test
    void aConstructorOfASharedInstanceGetsNoNetwork() {
        String failure = EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(FabricSamples.OfSharedInstance.class))
                .execute()
                .containerEvents()
                .failed()
                .stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                .map(result ->
                        String.valueOf(result.getThrowable().orElseThrow().getMessage()))
                .findFirst()
                .orElse("");
        assertThat(failure).contains("a network lasts for one test method").contains("TestNetwork");
    }

    @Test
    void testsInParallelDoNotDisturbEachOther() {
        run(
                        FabricSamples.Parallel.class,
                        Map.of(
                                "junit.jupiter.execution.parallel.enabled", "true",
                                "junit.jupiter.execution.parallel.mode.default", "concurrent",
                                "junit.jupiter.execution.parallel.config.strategy", "fixed",
                                "junit.jupiter.execution.parallel.config.fixed.parallelism", "4"))
                .assertStatistics(counts -> counts.succeeded(12));
        assertThat(printed).isEmpty();
    }

    @Test
    void aWrongSeedIsNamed() {
        Events events = run(FabricSamples.Passing.class, Map.of(RdmaFabricExtension.SEED_PROPERTY, "x"));
        assertThat(failure(events, "passes")).contains("rdma4j.test.seed is 'x'");
    }
}
