package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.fixture.RoceCapture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Each tool against the C tool over Linux's rdma_rxe, in both roles and repeatedly, as cases of {@code checks/interop/run}. No
 * packet may be malformed for Wireshark or have a wrong ICRC.
 */
public final class ForeignInterop implements AcceptanceTest.Body {
    private static final String FEW = "^(size/v4/65535|ucmatose/-c-64|rstream/-S-65536) ";

    /** Each tool once; {@code checks/interop/run} itself covers all options. */
    private static final String EACH =
            "^(size/v4/64|ucmatose/-c-64|udaddy/v4|mckey/v4|rstream/v4|riostream/v4|rcopy/v4|rdma_client/v4|perftest/[a-z_]+)"
                    + " ";

    private static final int FULL_RUNS = 20;
    private static final long RUN_MINUTES = 60;
    private static final Pattern PASSED = Pattern.compile("(\\d+) of (\\d+) rows passed");

    @Override
    public String required(Scale scale) {
        return scale.of(1, FULL_RUNS)
                + " runs of the tools against Linux in both roles: all pass, no packet malformed, no bad ICRC";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int runs = stage.scale().of(1, FULL_RUNS);
        int total = 0;
        int passed = 0;
        long packets = 0;
        long malformed = 0;
        long icrcErrors = 0;
        Path home = Path.of(System.getProperty("rdma4j.home", "."));
        for (int run = 1; run <= runs; run++) {
            stage.progress("run " + run + " of " + runs);
            Matcher result = run(home, stage, run);
            passed += Integer.parseInt(result.group(1));
            total += Integer.parseInt(result.group(2));
            for (Path file : captures(home.resolve("checks/interop/target/latest"))) {
                RoceCapture capture = RoceCapture.read(file);
                packets += capture.frames().size();
                icrcErrors += capture.icrcErrors();
                malformed += malformed(file);
                Files.delete(file);
            }
        }
        return Outcome.of(
                passed == total && packets > 0 && malformed == 0 && icrcErrors == 0,
                "%d of %d cases passed; of %d packets %d malformed, %d with a bad ICRC"
                        .formatted(passed, total, packets, malformed, icrcErrors));
    }

    private static Matcher run(Path home, TestStage stage, int run) throws IOException, InterruptedException {
        Path log = stage.folder().resolve("run-" + run + ".txt");
        Process process = new ProcessBuilder(
                        home.resolve("checks/interop/run").toString(),
                        "--keep",
                        "--max-failures",
                        "0",
                        "--only",
                        stage.scale() == Scale.QUICK ? FEW : EACH)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (!process.waitFor(RUN_MINUTES, TimeUnit.MINUTES)) {
            process.destroy();
            throw new IOException("checks/interop/run did not exit within " + RUN_MINUTES + " minutes");
        }
        Matcher result = PASSED.matcher(Files.readString(log));
        if (!result.find()) {
            throw new IOException("checks/interop/run ended with " + process.exitValue() + ", see " + log);
        }
        return result;
    }

    private static List<Path> captures(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder.toRealPath())) {
            return files.filter(file -> file.endsWith("capture.pcap")).toList();
        }
    }

    /**
     * Returns the number of packets that tshark finds malformed. It also guesses the protocol of payloads and reports
     * an empty SEND of perftest as malformed RPC, so packets with a protocol above InfiniBand are not counted.
     */
    private static long malformed(Path capture) throws IOException {
        List<String> command = List.of(
                "tshark", "-r", capture.toString(), "-Y", "_ws.malformed", "-T", "fields", "-e", "frame.protocols");
        Process tshark = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (Stream<String> lines = tshark.inputReader().lines()) {
            return lines.filter(protocols -> protocols.endsWith(":infiniband")).count();
        }
    }
}
