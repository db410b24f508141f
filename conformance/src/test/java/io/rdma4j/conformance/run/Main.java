package io.rdma4j.conformance.run;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The program of {@code conformance/run}: runs the tests of semantics on one device and prints a table. */
public final class Main {
    private static final String PACKAGE = "io.rdma4j.conformance.";
    private static final List<String> PACKAGES = List.of("verbs", "cm", "sockets");

    private Main() {}

    /** Runs the program. Its exit status is 1 if a test has failed, and 2 if no test could be run. */
    public static void main(String[] arguments) {
        int status;
        try {
            status = run(Arguments.parse(arguments), System.out);
        } catch (IllegalArgumentException e) {
            status = refuse(e);
        } catch (ExceptionInInitializerError e) {
            status = refuse(e.getException()); // TestDevices cannot use the device
        }
        System.exit(status);
    }

    private static int refuse(Throwable reason) {
        System.err.println("conformance/run: " + reason.getMessage());
        return 2;
    }

    /** The arguments of the program. */
    private record Arguments(boolean list, @Nullable String device, List<String> peers, List<String> classes) {
        static Arguments parse(String[] words) {
            boolean list = false;
            String device = null;
            List<String> peers = new ArrayList<>();
            List<String> classes = new ArrayList<>();
            for (int i = 0; i < words.length; i++) {
                switch (words[i]) {
                    case "--list" -> list = true;
                    case "--device" -> device = value(words, ++i);
                    case "--peer" -> peers.add(value(words, ++i));
                    default -> classes.add(words[i]);
                }
            }
            return new Arguments(list, device, peers, classes);
        }

        private static String value(String[] words, int at) {
            if (at == words.length) {
                throw new IllegalArgumentException(words[at - 1] + " needs a value");
            }
            return words[at];
        }
    }

    private static int run(Arguments arguments, PrintStream out) {
        if (arguments.list()) {
            Device.list().forEach(device -> out.println(line(device)));
            return 0;
        }
        if (arguments.device() != null) {
            System.setProperty(TestDevices.DEVICE, arguments.device());
        }
        System.setProperty(TestDevices.PEERS, String.join(",", arguments.peers()));
        out.printf(
                "device %s, address %s%n",
                TestDevices.name(), TestDevices.address().getHostAddress());
        Results results = new Results();
        LauncherFactory.create().execute(request(arguments.classes()), results);
        if (results.isEmpty()) {
            throw new IllegalArgumentException("no test class is named " + String.join(", ", arguments.classes()));
        }
        results.print(TestDevices.name(), out);
        return results.hasFailed() ? 1 : 0;
    }

    private static LauncherDiscoveryRequest request(List<String> classes) {
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
