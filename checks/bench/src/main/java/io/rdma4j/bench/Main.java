package io.rdma4j.bench;

import io.rdma4j.bench.plan.Experiments;
import io.rdma4j.bench.plan.MeasurementRun;
import io.rdma4j.bench.plan.OtherLoad;
import io.rdma4j.bench.plan.Pace;
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
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command line of {@code checks/bench/run}, which measures this project next to plain UDP system calls and its
 * peers.
 */
@Command(
        name = "checks/bench/run",
        sortOptions = false,
        usageHelpWidth = 110,
        customSynopsis = {
            "usage: checks/bench/run [--quick | --full] [--only REGEX] [--repetitions N] [--json FILE] [--html FILE]",
            "                 [--patience S] [--list]",
            "       checks/bench/run --jmh [OPTION...]"
        },
        synopsisHeading = "",
        description = {
            "",
            "Measures this project on this machine, next to plain UDP system calls from Java (the floor, \"raw\"), and"
                    + " next to its peers. Two processes run each measurement over the loopback interface, once in each"
                    + " repetition, so that a ratio compares figures of the same minute. Prints one table: median,"
                    + " minimum and maximum over the repetitions, the ratio to raw (the median of the ratios within"
                    + " repetitions), and the aims with the values reached.",
            ""
        },
        footer = {
            "",
            "With --jmh as its first word, checks/bench/run runs benchmarks of parts of the hot path instead, with JMH and its"
                    + " options.",
            "",
            "Close other programs: two processes poll, each on a separate processor. Compare ratios within a run, not"
                    + " figures of different runs. docs/performance.md describes each row and what limits it.",
            "",
            "Exits with 0, with 1 if nothing could be measured, or with 2 for a wrong command line.",
            "",
            "examples:",
            "  checks/bench/run --quick",
            "  checks/bench/run --only 'write|raw' --repetitions 9",
            "  checks/bench/run --json figures.json --html figures.html"
        })
public final class Main implements Callable<Integer> {
    @Mixin
    private final BenchOptions options = new BenchOptions();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "prints this text")
    @SuppressWarnings("UnusedVariable") // picocli sets it, and prints the text itself
    private boolean help;

    private Main() {}

    /** Runs the benchmarks and exits with the status that {@code --help} describes. */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** Returns the command, which reports an error of the command line in one sentence. */
    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setExpandAtFiles(false)
                .setOverwrittenOptionsAllowed(true)
                .setParameterExceptionHandler((error, _) -> {
                    error.getCommandLine().getErr().println("checks/bench/run: " + error.getMessage() + "; see --help");
                    return CommandLine.ExitCode.USAGE;
                });
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Pace pace = options.pace();
        Plan plan = Experiments.plan(pace);
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
            System.err.println(
                    "checks/bench/run: --only " + options.only() + " matches no row; --list prints all rows");
            return 2;
        }
        Map<String, Object> machine = Machine.facts();
        OtherLoad load = new OtherLoad();
        MeasurementRun measurement = new MeasurementRun(
                plan.experiments(),
                pace,
                options.patienceSeconds(),
                new RunProgress(System.err, Boolean.getBoolean("bench.terminal")));
        Results results = measurement.run();
        machine.put("pace", pace.name());
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
