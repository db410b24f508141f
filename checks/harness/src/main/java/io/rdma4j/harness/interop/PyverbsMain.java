package io.rdma4j.harness.interop;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.Guest;
import io.rdma4j.harness.GuestKernel;
import io.rdma4j.harness.Host;
import io.rdma4j.harness.Launcher;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The command line of {@code checks/interop/pyverbs}. */
@CommandLine.Command(
        name = "checks/interop/pyverbs",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "",
            "Runs rdma-core's own tests in Python (Debian's python3-pyverbs) by ./rdma4j exec as the user nobody on this host, and as"
                    + " root in a Linux guest on rdma_rxe, and prints the results side by side, with a line for each test that"
                    + " differs. Needs root; checks/interop/setup --pyverbs installs what it needs. Takes five minutes; .ci/run --full"
                    + " runs it.",
            ""
        },
        footer = {
            "",
            "Exits with 0, or with 1 if a test passes on rdma_rxe and not over exec, or fails over exec although it is not skipped on"
                    + " rdma_rxe, or 2 if the run could not start. Results are in checks/interop/target/pyverbs."
        })
public final class PyverbsMain implements Callable<Integer> {
    /** Tests of the connection manager fork. They are a group of their own, in which no device is open before that. */
    private static final String FORKING = "test_(rdmacm|fork)\\.";

    private static final Roles ROLES = new Roles(Side.LINUX, Side.EXEC);

    @Option(
            names = "--kernel",
            paramLabel = "SERIES",
            description =
                    "6.1 (default), or 6.12, which checks/interop/setup --newer unpacks; the programs are the host's")
    private String series = "6.1";

    @Option(names = "--only", paramLabel = "PATTERN", description = "only the tests whose names match")
    private String only = "";

    @Option(names = "--page", paramLabel = "FILE", description = "write the tables to FILE as a page (docs/pyverbs.md)")
    private @Nullable Path page;

    private PyverbsMain() {}

    /** Runs the command and exits with the status described above. */
    public static void main(String[] arguments) {
        Main.execute(new PyverbsMain(), arguments);
    }

    @Override
    @SuppressWarnings("try") // closing may throw InterruptedException, like this method
    public Integer call() throws IOException, InterruptedException, CaseFailure {
        GuestKernel kernel = GuestKernel.of(series);
        Setting setting = new Setting(Main.HOME, kernel, 1500, false, false, null);
        Main.requireSetUp(setting, true);
        for (String folder : List.of("/usr/lib/python3/dist-packages/pyverbs", "/usr/share/doc/rdma-core/tests")) {
            if (!Files.isDirectory(Path.of(folder))) {
                throw new IOException("missing: " + folder + "; run checks/interop/setup --pyverbs first");
            }
        }
        new Launcher(Main.HOME).prepare("--build");
        new Launcher(Main.HOME).prepare("exec", "--", "true"); // the user of the programs cannot write to the checkout
        Path results = Main.LOGS.resolve("pyverbs");
        for (String file : List.of("exec-other", "exec-forking", "rxe-other", "rxe-forking")) {
            Files.deleteIfExists(results.resolve(file));
        }
        Host.removeStale();
        try (World world = new World(setting, Files.createDirectories(results), true)) {
            InteropStage stage = new InteropStage(new Stage(results, Duration.ZERO), world, ROLES);
            runGroup(stage, results, "other", List.of("--only", "^(?!" + FORKING + ").*(" + only + ")"));
            runGroup(
                    stage,
                    results,
                    "forking",
                    List.of("--fork-first", "--only", "^(?=" + FORKING + ").*(" + only + ")"));
        }
        PyverbsComparison comparison = new PyverbsComparison(results, List.of("other", "forking"));
        if (page != null) {
            String version = Command.run(List.of("dpkg-query", "-W", "-f", "${Version}", "python3-pyverbs"));
            comparison.write(page, String.valueOf(kernel.release()), version);
        }
        return comparison.print() ? 0 : 1;
    }

    private static void runGroup(InteropStage stage, Path results, String group, List<String> options)
            throws IOException, InterruptedException, CaseFailure {
        Host host = stage.world.host(Side.HOST);
        System.out.println("exec, " + group + " tests:");
        List<String> words = new ArrayList<>(host.prefix());
        Path file = results.resolve("exec-" + group);
        words.addAll(stage.execWords(List.of(), words(stage, Side.EXEC, InteropStage.EXEC_DEVICE, file, options)));
        var _ = Command.show(words); // the results have its failures
        System.out.println("rdma_rxe, " + group + " tests:");
        words = words(stage, Side.LINUX, stage.device(), Path.of("/tmp/results"), options);
        var _ = GuestMain.show(host, words.stream().map(Guest::quoted).collect(Collectors.joining(" ")));
        String text =
                stage.world.guest().call("cat /tmp/results; rm -f /tmp/results").output();
        Files.writeString(results.resolve("rxe-" + group), text);
    }

    /** Returns the words that run tests on a side. */
    private static List<String> words(InteropStage stage, Side side, String device, Path file, List<String> options)
            throws IOException, InterruptedException, CaseFailure {
        List<String> words = new ArrayList<>(List.of("timeout", "1200", "python3"));
        words.add(Main.HOME.resolve("apps/exec/lib/pyverbs.py").toString());
        words.addAll(List.of("--device", device, "--address", stage.address(side, Family.V4)));
        words.addAll(List.of("--gid", Integer.toString(stage.gidIndex(side, Family.V4)), "--output", file.toString()));
        words.addAll(options);
        return words;
    }
}
