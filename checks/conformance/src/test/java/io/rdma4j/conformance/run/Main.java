package io.rdma4j.conformance.run;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command line of {@code checks/conformance/run}, which runs the tests of semantics on one device and prints a table. */
@Command(
        name = "checks/conformance/run",
        sortOptions = false,
        description = {
            "",
            "Runs the conformance tests of verbs, connections and RDMA sockets on one device: the software device of the"
                    + " loopback interface, unless --device names another one. Builds the modules with Maven first if a"
                    + " source is newer than the last build.",
            "",
            "Prints a row for each class: the tests that passed, those that failed, and those that were skipped because"
                    + " the device lacks a feature, such as memory windows or a second address. Then prints each missing"
                    + " feature and each failure.",
            ""
        },
        footer = {
            "",
            "Exits with 0, with 1 if a test failed, or with 2 if no test could be run.",
            "",
            "examples:",
            "  checks/conformance/run",
            "  checks/conformance/run --device rdma4j_eth0",
            "  checks/conformance/run OperationsTest"
        })
public final class Main implements Callable<Integer> {
    private static final String PACKAGE = "io.rdma4j.conformance.";
    private static final List<String> PACKAGES = List.of("verbs", "cm", "sockets", "layer");

    @Option(names = "--device", paramLabel = "NAME", description = "tests the device of that name, at its addresses")
    private @Nullable String device;

    @Option(
            names = "--peer",
            paramLabel = "ADDRESS",
            description = "uses this address of another device of the host as the other end, in tests that do not need"
                    + " a certain one; may be repeated")
    private List<String> peers = new ArrayList<>();

    @Option(
            names = {"-v", "--verbose"},
            description = "prints each test when it starts and when it has ended, and the stack trace of each failure")
    private boolean verbose;

    @Option(
            names = "--load",
            paramLabel = "PERCENT",
            defaultValue = "100",
            description =
                    "has the load tests open this part of their connections, and send this part of their messages,"
                            + " on a device that is slow (${DEFAULT-VALUE})")
    private int load;

    @Option(names = "--list", description = "prints the devices and their addresses, and tests nothing")
    private boolean list;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "prints this text")
    @SuppressWarnings("UnusedVariable") // picocli sets it, and prints the text itself
    private boolean help;

    @Parameters(paramLabel = "CLASS", arity = "0..*", description = "runs only the classes of these names")
    private List<String> classes = new ArrayList<>();

    @Spec
    private @Nullable CommandSpec command;

    private Main() {}

    /** Runs the tests and exits with the status that {@code --help} describes. */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** Returns the command, which reports an error of the command line in one sentence. */
    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setExpandAtFiles(false)
                .setOverwrittenOptionsAllowed(true)
                .setParameterExceptionHandler((error, _) -> {
                    error.getCommandLine().getErr().println("checks/conformance/run: " + error.getMessage());
                    return CommandLine.ExitCode.USAGE;
                });
    }

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(command).commandLine();
        try {
            return run(System.out);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, e.getMessage(), e);
        } catch (ExceptionInInitializerError e) { // TestDevices cannot use the device
            throw new ParameterException(line, e.getException().getMessage(), e);
        }
    }

    private int run(PrintStream out) {
        if (list) {
            Device.list().forEach(each -> out.println(line(each)));
            return 0;
        }
        if (device != null) {
            System.setProperty(TestDevices.DEVICE, device);
        }
        System.setProperty(TestDevices.LOAD, String.valueOf(load));
        System.setProperty(TestDevices.PEERS, String.join(",", peers));
        out.printf(
                "device %s, address %s%n",
                TestDevices.name(), TestDevices.address().getHostAddress());
        Results results = new Results(verbose ? out : null);
        LauncherFactory.create().execute(request(), results);
        if (results.isEmpty()) {
            throw new IllegalArgumentException("no test class is named " + String.join(", ", classes));
        }
        results.print(TestDevices.name(), out);
        return results.hasFailed() ? 1 : 0;
    }

    private LauncherDiscoveryRequest request() {
        var request = LauncherDiscoveryRequestBuilder.request()
                .selectors(PACKAGES.stream()
                        .map(each -> selectPackage(PACKAGE + each))
                        .toList())
                .configurationParameter("junit.jupiter.execution.timeout.default", "10 m");
        if (!classes.isEmpty()) {
            request.filters(ClassNameFilter.includeClassNamePatterns(
                    classes.stream().map(name -> ".*\\." + name).toArray(String[]::new)));
        }
        return request.build();
    }

    private static String line(Device device) {
        try (DeviceContext context = device.open()) {
            return "%-16s %s"
                    .formatted(
                            device.name(),
                            context.gids(1).stream()
                                    .filter(gid -> !gid.equals(Gid.ZERO))
                                    .map(gid -> gid.toInetAddress().getHostAddress())
                                    .collect(Collectors.joining(" ")));
        }
    }
}
