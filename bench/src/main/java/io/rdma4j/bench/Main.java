package io.rdma4j.bench;

import io.rdma4j.bench.BenchOptions.UsageException;
import io.rdma4j.bench.plan.Experiments;
import io.rdma4j.bench.plan.MeasurementRun;
import io.rdma4j.bench.plan.OtherLoad;
import io.rdma4j.bench.plan.Plan;
import io.rdma4j.bench.plan.RunProgress;
import io.rdma4j.bench.report.HtmlReport;
import io.rdma4j.bench.report.JsonReport;
import io.rdma4j.bench.report.Machine;
import io.rdma4j.bench.report.Results;
import io.rdma4j.bench.report.Row;
import io.rdma4j.bench.report.Table;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** {@code bench/run}: measures this project on this machine beside the floor of the machine and beside its peers. */
public final class Main {
    private static final String HELP = """
        usage: bench/run [--quick | --full] [--only REGEX] [--repetitions N] [--json FILE] [--html FILE]
                         [--patience SECONDS] [--list]
               bench/run --jmh [OPTION...]

        Measures this project on this machine, in one session: beside UDP sockets driven from Java by system calls
        (the floor, "raw"), and beside its peers. Everything runs in two processes over the loopback interface, once
        in each repetition, so that a ratio is between figures of the same minute. Prints one table: median over the
        repetitions, the least and the most of them, the ratio to raw (the median of the ratios within repetitions),
        and the aims with what was reached.

          --quick          a look, under 2 minutes: 3 repetitions, the rows that matter most
          --full           every size from 1 B to 8 MiB, 1 to 64 queue pairs; up to an hour
          --only REGEX     only rows with REGEX in their name or title, and the floors of those
          --repetitions N  how often; as many as fit into the time
          --json FILE      writes all figures of all repetitions
          --html FILE      writes the table and plots as one page that needs nothing else
          --patience S     before each measurement waits up to S seconds until the machine is quiet, and measures
                           again, up to twice, what others disturbed or what the machine changed under
          --jmh [OPTION…]  instead: parts of the hot path by themselves, with JMH and its options
          --list           says what would be measured, and measures nothing

        Close what else runs: two processes poll, each on a processor of its own. Figures of different runs do not
        compare; ratios of one run do. docs/performance.md says what each row is and what limits it.

        examples:
          bench/run --quick
          bench/run --only 'write|raw' --repetitions 9
          bench/run --json figures.json --html figures.html
        """;

    private Main() {}

    /** Runs it; the exit status is 0, or 1 if nothing could be measured, or 2 for a wrong command line. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        List<String> words = Arrays.asList(arguments);
        if (words.contains("--help") || words.contains("-h")) {
            System.out.print(HELP);
            return;
        }
        try {
            System.exit(run(BenchOptions.parse(words)));
        } catch (UsageException e) {
            System.err.println("bench/run: " + e.getMessage());
            System.exit(2);
        }
    }

    private static int run(BenchOptions options) throws IOException, InterruptedException {
        Plan plan = Experiments.plan(options.pace());
        if (options.only() != null) {
            plan = plan.only(options.only());
        }
        if (options.list()) {
            for (Row row : plan.rows().values()) {
                System.out.println(row.id() + ": " + row.group() + ": " + row.title());
            }
            return 0;
        }
        if (plan.rows().isEmpty()) {
            System.err.println("bench/run: --only " + options.only() + " fits no row; --list says which there are");
            return 2;
        }
        Map<String, Object> machine = Machine.facts();
        OtherLoad load = new OtherLoad();
        MeasurementRun session = new MeasurementRun(
                plan.experiments(),
                options.pace(),
                options.patienceSeconds(),
                new RunProgress(System.err, Boolean.getBoolean("bench.terminal")));
        Results results = session.run();
        machine.put("pace", options.pace().name());
        machine.put("repetitions", session.repetitionsDone());
        double others = load.share();
        machine.put("processorsUsedByOthers", Math.round(others * 100) + " %");
        machine.put("processorDistance", results.processorDistance());
        machine.forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println();
        System.out.print(new Table(plan.rows(), results).text());
        if (others > OtherLoad.QUIET) {
            System.out.println("\nThis machine was not quiet: other processes used " + Math.round(others * 100)
                    + " % of its processors. These figures say little; run again when nothing else runs.");
        }
        if (options.json() != null) {
            Files.writeString(options.json(), JsonReport.write(machine, plan.rows(), results), StandardCharsets.UTF_8);
        }
        if (options.html() != null) {
            Files.writeString(options.html(), HtmlReport.write(machine, plan.rows(), results), StandardCharsets.UTF_8);
        }
        return plan.rows().values().stream()
                        .anyMatch(row -> results.statistics(row).isPresent())
                ? 0
                : 1;
    }
}
