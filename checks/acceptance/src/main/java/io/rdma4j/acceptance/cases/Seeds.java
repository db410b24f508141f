package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Thousands of seeded runs of a simulated fabric under faults ({@code rdma4j sim}): connections of every type, also
 * idle ones with a keep-alive, datagrams and groups, services resolved by SIDR, stream and datagram sockets. Every
 * completion and every byte match a model, and the same seeds produce the same trace hash, regardless of the number of concurrent runs.
 */
public final class Seeds implements AcceptanceTest.Body {
    private static final int LIMIT_SECONDS = 300;
    private static final int REPEATED = 100;

    private static int runs(Scale scale) {
        return scale.of(500, 10_000);
    }

    @Override
    public String required(Scale scale) {
        return "%d seeds in at most %d s, none fails; %d of them again, with the same hash"
                .formatted(runs(scale), LIMIT_SECONDS, REPEATED);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        stage.progress("seeds 0 to " + (runs(stage.scale()) - 1));
        JsonNode all =
                simulate(stage, "all", runs(stage.scale()), Runtime.getRuntime().availableProcessors());
        stage.progress(REPEATED + " seeds twice");
        JsonNode once = simulate(stage, "once", REPEATED, 1);
        JsonNode again = simulate(stage, "again", REPEATED, 3);
        String hash = once.path("traceHash").asText();
        boolean isSame = !hash.isEmpty() && hash.equals(again.path("traceHash").asText());
        double seconds = all.path("elapsedSeconds").asDouble(Double.MAX_VALUE);
        int failed = all.path("failedSeeds").size();
        String measured = String.format(
                Locale.ROOT,
                "%d seeds in %.0f s, %d failed, %d of %d connections completed, %d services resolved, %d silent peers"
                        + " given up, %d datagrams at sockets; %s",
                runs(stage.scale()),
                seconds,
                failed,
                all.path("completedConnections").asLong(),
                all.path("connections").asLong(),
                all.path("resolvedServices").asLong(),
                all.path("silentPeers").asLong(),
                all.path("socketDatagrams").asLong(),
                isSame
                        ? "the same hash"
                        : "different hashes: " + hash + " and "
                                + again.path("traceHash").asText());
        return Outcome.of(failed == 0 && isSame && seconds <= LIMIT_SECONDS, measured);
    }

    /** Runs the simulator. Details of failures are kept in the folder of the test. */
    private static JsonNode simulate(TestStage stage, String name, int runs, int jobs)
            throws IOException, InterruptedException {
        Path tool = Path.of(System.getProperty("rdma4j.home", "."), "rdma4j");
        List<String> words = List.of(
                tool.toString(), "sim", "--runs", String.valueOf(runs), "--jobs", String.valueOf(jobs), "--json");
        RunningProcess simulator = stage.start(name, words, Duration.ofSeconds(2 * LIMIT_SECONDS));
        if (simulator.awaitEnd() == RunningProcess.EXCEEDED) {
            throw new IOException("the simulator did not exit within " + 2 * LIMIT_SECONDS + " s");
        }
        return new ObjectMapper().readTree(simulator.out()).path("results");
    }
}
