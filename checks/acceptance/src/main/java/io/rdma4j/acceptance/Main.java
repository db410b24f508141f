package io.rdma4j.acceptance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of {@code checks/acceptance/run}. */
@Command(
        name = "checks/acceptance/run",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "",
            "Runs the acceptance tests of reliability and security and prints one table: test, required figure,"
                    + " measured figure, pass or fail. Some tests create network namespaces on this host and damage the"
                    + " traffic between them; no packet leaves the host.",
            ""
        },
        footer = {
            "",
            "Exits with 0 if every test passed, 1 if one failed, 2 if the run could not start, and 3 if every test"
                    + " was correct but missed a time or rate (SLOW), as on a busy machine. Logs of each test are in "
                    + "checks/acceptance/target/latest/NN-title/.",
            "",
            "examples:",
            "  sudo checks/acceptance/run",
            "  sudo checks/acceptance/run --only 'loss|^6 '",
            "  sudo checks/acceptance/run --full --json acceptance.json"
        })
public final class Main implements Callable<Integer> {
    @Option(
            names = "--full",
            description = "run the full form of each test, which takes hours; the default is the quick form")
    private boolean full;

    @Option(
            names = "--only",
            paramLabel = "REGEX",
            description = "run only tests whose \"number title\" contains a match of REGEX")
    private @Nullable Pattern only;

    @Option(names = "--list", description = "print the tests and their required figures without running them")
    private boolean list;

    @Option(names = "--json", paramLabel = "FILE", description = "also write the table as JSON")
    private @Nullable Path json;

    private Main() {}

    /** Runs the command and exits with the status described above. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Scale scale = full ? Scale.FULL : Scale.QUICK;
        List<AcceptanceTest> tests = AcceptanceTests.tests().stream()
                .filter(test -> only == null
                        || only.matcher(test.number() + " " + test.title()).find())
                .toList();
        if (tests.isEmpty()) {
            System.err.println("checks/acceptance/run: --only " + only + " matches no test; --list prints all tests");
            return 2;
        }
        AcceptanceTable table = new AcceptanceTable();
        if (list) {
            tests.forEach(test -> System.out.println(AcceptanceTable.head(test, scale)));
            return 0;
        }
        Path folder = Path.of(System.getProperty("rdma4j.home", "."), "checks", "acceptance", "target", "latest");
        new AcceptanceRun(scale, folder, table).run(tests);
        System.out.print(table.text());
        if (json != null) {
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(json.toFile(), table.rows());
        }
        return table.hasFailures() ? 1 : table.isSlow() ? 3 : 0;
    }
}
