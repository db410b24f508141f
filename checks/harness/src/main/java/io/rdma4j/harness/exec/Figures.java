package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecHosts.SERVER;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.PerftestTable;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The command line of {@code apps/exec/figures}. */
@CommandLine.Command(
        name = "apps/exec/figures",
        mixinStandardHelpOptions = true,
        description = {
            "",
            "Runs client and server of a perftest program on two hosts that are network namespaces, and on one host; in each"
                    + " repetition once as C programs by rdma4j exec, and once as this project's own tools, which have the same"
                    + " names and options. Prints the median of each, and the median of the ratios within repetitions: above"
                    + " 1.00 the C program is slower. Then prints how long calls and ibv_devices take, and the memory of a"
                    + " process. Needs root, and the packages that apps/exec/run installs. Close other programs first: client"
                    + " and server poll, each on its own processor.",
            ""
        })
public final class Figures implements Callable<Integer> {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String PLACE = " -F -d rdma4j_eth0 -x " + ExecStage.GID_INDEX + " ";
    private static final String WARM = "-D 6 -f 2";

    @Option(names = "--repetitions", paramLabel = "N", description = "5 by default")
    private int repetitions = 5;

    @Option(names = "--only", paramLabel = "PATTERN", description = "only rows that match this regular expression")
    private Pattern only = Pattern.compile("");

    private final Path home =
            Path.of(System.getProperty("rdma4j.home", ".")).toAbsolutePath().normalize();

    private Figures() {}

    /** Runs the command. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Figures()).execute(arguments));
    }

    @Override
    @SuppressWarnings("try") // closing may throw InterruptedException, like this method
    public Integer call() throws IOException, InterruptedException, CaseFailure {
        Path folder = home.resolve(
                "apps/exec/target/rows/figures-" + ProcessHandle.current().pid());
        try (ExecHosts hosts = ExecHosts.create()) {
            ExecStage stage = new ExecStage(new Stage(folder, LIMIT), hosts, home);
            System.out.printf(
                    Locale.ROOT,
                    "%-44s %10s %10s %-5s %6s%n",
                    "median of " + repetitions,
                    "in C",
                    "in Java",
                    "",
                    "ratio");
            compareTool(stage, "ib_send_lat", true);
            compareTool(stage, "ib_write_lat", true);
            compareTool(stage, "ib_write_bw", false);
            if (only.matcher("calls").find()) {
                measureCalls(stage);
            }
            if (only.matcher("start").find()) {
                measureStart(stage);
            }
        }
        return 0;
    }

    /** One row: the host of the client, and the options of both programs. */
    private record Row(
            String name, String tool, Side client, List<String> execOptions, String options, String javaOptions) {}

    private void compareTool(ExecStage stage, String tool, boolean isTime) throws IOException, InterruptedException {
        List<Row> rows = List.of(
                new Row(tool + ", --no-warm-up", tool, Side.CLIENT, List.of("--no-warm-up"), "", "--no-warm-up"),
                new Row(tool + ", options as they are", tool, Side.CLIENT, List.of(), "", ""),
                new Row(tool + ", warm", tool, Side.CLIENT, List.of(), WARM, WARM),
                new Row(tool + ", warm, one host", tool, Side.SERVER, List.of(), WARM, WARM));
        for (Row row : rows) {
            if (only.matcher(row.name()).find()) {
                compare(stage, row, isTime);
            }
        }
    }

    private void compare(ExecStage stage, Row row, boolean isTime) throws IOException, InterruptedException {
        List<Double> inC = new ArrayList<>();
        List<Double> inJava = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < repetitions; i++) {
            try {
                double c = measure(stage, row, Roles.Language.C);
                double java = measure(stage, row, Roles.Language.JAVA);
                inC.add(c);
                inJava.add(java);
                ratios.add(isTime ? c / java : java / c);
            } catch (CaseFailure failed) {
                System.err.println(row.name() + ": " + failed.getMessage());
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%-44s %10.4g %10.4g %-5s %6.4g%n",
                row.name(),
                median(inC),
                median(inJava),
                isTime ? "us" : "MB/s",
                median(ratios));
    }

    /** Runs a pair, and returns its figure. */
    private static double measure(ExecStage stage, Row row, Roles.Language language)
            throws CaseFailure, IOException, InterruptedException {
        boolean isC = language == Roles.Language.C;
        String command = row.tool() + PLACE + (isC ? row.options() : row.javaOptions());
        RunningProcess server = start(stage, row, isC, "server", Side.SERVER, command);
        try {
            // Java's tool listens before it warms up. A C program listens once it has its devices.
            stage.awaitTcpListener(PerftestCases.PORT);
            RunningProcess client = start(stage, row, isC, "client", row.client(), command + " " + SERVER);
            client.requireSuccess();
            server.awaitEnd();
            return PerftestTable.value(client);
        } finally {
            server.end("KILL");
        }
    }

    private static RunningProcess start(ExecStage stage, Row row, boolean isC, String label, Side side, String command)
            throws IOException {
        List<String> words = new ArrayList<>();
        if (isC) {
            words.addAll(stage.execWords(row.execOptions(), ExecStage.words(command)));
        } else {
            words.add(stage.launcher());
            words.addAll(ExecStage.words(command));
        }
        return stage.start(label, side, words);
    }

    private void measureCalls(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        stage.compile(
                "calls", "-O2", "-Wall", "-Wextra", stage.source("lib/calls.c").toString(), "-libverbs");
        Map<String, List<Double>> values = new HashMap<>();
        for (int i = 0; i < repetitions; i++) {
            RunningProcess calls =
                    stage.exec("calls", Side.SERVER, stage.file("calls").toString());
            calls.requireSuccess();
            calls.out()
                    .lines()
                    .map(line -> line.split(" ", -1))
                    .forEach(words -> values.computeIfAbsent(words[0], name -> new ArrayList<>())
                            .add(Double.valueOf(words[1])));
        }
        System.out.printf(Locale.ROOT, "%n%-44s %10s%n", "warm", "ns");
        print("ibv_poll_cq of an empty queue", values.getOrDefault("poll", List.of()));
        print("ibv_post_send of a WRITE of 8 bytes", values.getOrDefault("post", List.of()));
        print("ibv_reg_mr and ibv_dereg_mr of 1 MiB", values.getOrDefault("register", List.of()));
        System.out.printf(Locale.ROOT, "%n%-44s %10s%n", "memory", "MiB");
        print("resident, after the set-up", values.getOrDefault("memory-before", List.of()));
        print("resident, after the calls", values.getOrDefault("memory-after", List.of()));
    }

    private void measureStart(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        List<Double> millis = new ArrayList<>();
        for (int i = 0; i < 2 * repetitions; i++) {
            long begin = System.nanoTime();
            stage.exec("program", Side.SERVER, "ibv_devices").requireSuccess();
            millis.add((System.nanoTime() - begin) / 1e6);
        }
        System.out.printf(Locale.ROOT, "%n%-44s %10s%n", "start", "ms");
        print("ibv_devices, the whole process", millis);
    }

    private static void print(String title, List<Double> values) {
        System.out.printf(Locale.ROOT, "%-44s %10.4g%n", title, median(values));
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int count = sorted.size();
        return count == 0 ? Double.NaN : (sorted.get((count - 1) / 2) + sorted.get(count / 2)) / 2;
    }
}
