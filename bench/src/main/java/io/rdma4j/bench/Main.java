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

/**
 * Implements {@code bench/run}, which measures this project on this machine beside plain UDP system calls and beside
 * its peers.
 */
public final class Main {
    private static final String HELP = """
        usage: bench/run [--quick | --full] [--only REGEX] [--repetitions N] [--json FILE] [--html FILE]
                         [--patience SECONDS] [--list]
               bench/run --jmh [OPTION...]

        Measures this project on this machine, beside plain UDP system calls from Java (the floor, "raw"), and beside
        its peers. Two processes run each measurement over the loopback interface, once in each repetition, so that a
        ratio compares figures of the same minute. Prints one table: median, minimum and maximum over the repetitions,
        the ratio to raw (the median of the ratios within repetitions), and the aims with the values reached.

          --quick          only the most important rows, 3 repetitions, under 2 minutes
          --full           every size from 1 B to 8 MiB, 1 to 64 queue pairs; up to an hour
          --only REGEX     only rows with REGEX in their name or title, and their floors
          --repetitions N  number of repetitions, as far as the time suffices
          --json FILE      writes all figures of all repetitions
          --html FILE      writes the table and plots as one self-contained page
          --patience S     waits up to S seconds before each measurement until the machine is quiet, and repeats a
                           measurement, up to twice, if other processes disturbed it or the machine changed during it
          --list           prints what would be measured, and measures nothing
          --jmh [OPTION…]  instead: benchmarks of parts of the hot path, with JMH and its options

        Close other programs: two processes poll, each on a processor of its own. Compare ratios within a run, not
        figures of different runs. docs/performance.md describes each row and what limits it.

        examples:
          bench/run --quick
          bench/run --only 'write|raw' --repetitions 9
          bench/run --json figures.json --html figures.html
        """;

    private Main() {}

    /**
     * Runs the benchmarks. The exit status is 0, or 1 if nothing could be measured, or 2 for an invalid command line.
     */
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
            System.err.println("bench/run: --only " + options.only() + " matches no row; --list prints all rows");
            return 2;
        }
        Map<String, Object> machine = Machine.facts();
        OtherLoad load = new OtherLoad();
        MeasurementRun measurement = new MeasurementRun(
                plan.experiments(),
                options.pace(),
                options.patienceSeconds(),
                new RunProgress(System.err, Boolean.getBoolean("bench.terminal")));
        Results results = measurement.run();
        machine.put("pace", options.pace().name());
        machine.put("repetitions", measurement.repetitionsDone());
        double others = load.share();
        machine.put("processorsUsedByOthers", Math.round(others * 100) + " %");
        machine.put("processorDistance", results.processorDistance());
        machine.forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println();
        System.out.print(new Table(plan.rows(), results).text());
        if (others > OtherLoad.QUIET) {
            System.out.println("\nThe machine was not quiet: other processes used " + Math.round(others * 100)
                    + " % of its processors. These figures are unreliable; repeat the run on a quiet machine.");
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
