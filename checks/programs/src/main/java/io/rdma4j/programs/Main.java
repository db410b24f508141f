package io.rdma4j.programs;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code checks/programs/run}. */
@Command(
        name = "checks/programs/run",
        mixinStandardHelpOptions = true,
        description = {
            "Runs programs of others, unmodified, over TCP and over RDMA sockets (rdma4j run), and prints one table.",
            "",
            "Columns: operations a second over each; the time of an operation over RDMA as a multiple of TCP's; the TCP"
                    + " connections of the processes over RDMA; the percentage of a processor that both processes use while"
                    + " they are connected and idle; whether a client is served after another one was killed (kill -9); the"
                    + " time until the client of a killed server fails.",
            "",
            "Exits with 1 if a program fails, or uses TCP where RDMA was to be used."
        })
final class Main implements Callable<Integer> {
    @Option(names = "--only", paramLabel = "REGEX", description = "only programs whose names contain a match")
    private Pattern only = Pattern.compile("");

    @Option(names = "--transport", description = "only one: ${COMPLETION-CANDIDATES}")
    private @Nullable Transport transport;

    @Option(names = "--quick", description = "short times, which show that everything works, but no rates")
    private boolean quick;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            description = "time before the measurement; default: 15, and 0.5 with --quick")
    private double warmUpSeconds = -1;

    @Option(names = "--json", paramLabel = "FILE", description = "writes the outcomes as JSON, too")
    private @Nullable Path json;

    @Option(names = "--list", description = "prints the programs, and runs none")
    private boolean list;

    private Main() {}

    public static void main(String[] words) {
        System.exit(new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(words));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Program> programs = Programs.ALL.stream()
                .filter(each -> only.matcher(each.name()).find())
                .toList();
        if (programs.isEmpty()) {
            System.err.println("checks/programs/run: no program matches " + only + "; --list prints their names");
            return 2;
        }
        if (list) {
            programs.forEach(each -> System.out.printf(
                    "%-12s  %-38s  %-14s  %s%n", each.name(), each.title(), each.version(), each.exchange()));
            return 0;
        }
        Pace pace = quick ? Pace.QUICK : Pace.DEFAULT;
        if (warmUpSeconds >= 0) {
            pace = pace.withWarmUp((long) (warmUpSeconds * 1000));
        }
        Path logs = Files.createDirectories(
                Path.of(System.getProperty("rdma4j.home", "."), "checks", "programs", "target", "logs"));
        List<Outcome> outcomes = new ArrayList<>();
        for (Program program : programs) {
            for (Transport each : Transport.values()) {
                if (transport == null || transport == each) {
                    System.err.printf("programs: %s over %s%n", program.name(), each);
                    outcomes.add(new ProgramRun(program, each, pace, logs).run());
                }
            }
        }
        System.out.print(OutcomeTable.text(programs, outcomes));
        write(outcomes);
        long failed =
                outcomes.stream().filter(each -> each.whatFailed() != null).count();
        System.out.printf(Locale.ROOT, "%d passed, %d failed%n", outcomes.size() - failed, failed);
        return failed == 0 ? 0 : 1;
    }

    private void write(List<Outcome> outcomes) throws IOException {
        if (json != null) {
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(json.toFile(), outcomes);
        }
    }
}
