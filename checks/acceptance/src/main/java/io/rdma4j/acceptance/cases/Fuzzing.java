package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.fuzz.KnownTarget;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Runs every fuzz target with Jazzer by {@code checks/fuzz/run}, from its seeds and the existing corpus. */
public final class Fuzzing implements AcceptanceTest.Body {
    private static final Pattern DONE = Pattern.compile("(F\\d+): (\\d+) executions in .* nothing found");
    private static final Pattern FOUND = Pattern.compile("(F\\d+): FOUND .*");

    /** Begins the line of the exception behind a {@link #FOUND} line. */
    private static final String EXCEPTION = "== Java Exception: ";

    private static final int BUILD_AND_START_SECONDS = 400;

    /** Required executions in half an hour, of decoders and of state machines. */
    private static final long MIN_CODEC_EXECUTIONS = 100_000_000;

    private static final long MIN_STATE_MACHINE_EXECUTIONS = 10_000_000;

    @Override
    public String required(Scale scale) {
        String runs = scale == Scale.FULL ? ", F1 >= 10^8 executions, others 10^7" : "";
        return "%d targets, %d s each: 0 findings%s".formatted(KnownTarget.values().length, seconds(scale), runs);
    }

    private static int seconds(Scale scale) {
        return scale.of(5, 1800);
    }

    /** Returns the time limit of this test, for the build and for all targets. */
    public static int limitSeconds(Scale scale) {
        return BUILD_AND_START_SECONDS + 2 * seconds(scale) * KnownTarget.values().length;
    }

    @Override
    public Outcome run(TestStage stage) throws IOException, InterruptedException {
        Map<KnownTarget, Long> executions = new EnumMap<>(KnownTarget.class);
        List<String> findings = new ArrayList<>();
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("rdma4j.home", "."), "checks", "fuzz", "run")
                                .toString(),
                        "--seconds",
                        Integer.toString(seconds(stage.scale())),
                        "--jobs",
                        Integer.toString(Runtime.getRuntime().availableProcessors()))
                .redirectErrorStream(true)
                .start();
        stage.keep(() -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        });
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
                PrintWriter log =
                        new PrintWriter(stage.folder().resolve("fuzz.log").toFile(), StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                log.println(line);
                Matcher done = DONE.matcher(line);
                Matcher found = FOUND.matcher(line);
                if (done.matches()) {
                    executions.put(KnownTarget.valueOf(done.group(1)), Long.parseLong(done.group(2)));
                } else if (found.matches()) {
                    findings.add(found.group(1));
                } else if (line.startsWith(EXCEPTION)) {
                    findings.add(line.substring(EXCEPTION.length()));
                }
                stage.progress(executions.size() + " targets done");
            }
        }
        int status = process.waitFor();
        boolean isEnough = stage.scale() != Scale.FULL
                || executions.entrySet().stream()
                        .allMatch(e -> e.getValue()
                                >= (e.getKey() == KnownTarget.F1
                                        ? MIN_CODEC_EXECUTIONS
                                        : MIN_STATE_MACHINE_EXECUTIONS));
        String figures = executions.entrySet().stream()
                .map(e -> "%s %.2g".formatted(e.getKey(), (double) e.getValue()))
                .collect(Collectors.joining(", "));
        return Outcome.of(
                status == 0 && findings.isEmpty() && executions.size() == KnownTarget.values().length,
                isEnough,
                "%s%s; executions %s"
                        .formatted(
                                findings.isEmpty() ? "0 findings" : "FOUND " + String.join(" ", findings),
                                status > 1 ? ", checks/fuzz/run ended with " + status : "",
                                figures));
    }
}
