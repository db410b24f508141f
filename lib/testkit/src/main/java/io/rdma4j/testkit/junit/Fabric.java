package io.rdma4j.testkit.junit;

import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.HostOptions;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.verbs.RdmaException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;

/**
 * The network of one test, with the objects that the test has received from it. Used by the thread that runs the test.
 */
final class Fabric implements AutoCloseable {
    private static final int MAX_HOSTS = 250;

    /** Seeds are short, so that they are easy to copy. */
    private static final int MAX_SEED = 1_000_000_000;

    private final RdmaFabric settings;
    private final String conditions;
    private final TestNetwork network;
    private final String hosts;
    private final List<ConnectedPair> pairs = new ArrayList<>();
    private final ThreadWatch threads;

    private Fabric(RdmaFabric settings, String conditions, TestNetwork network) {
        this.settings = settings;
        this.conditions = conditions;
        this.network = network;
        hosts = String.join(
                ", ", network.hosts().stream().map(TestHost::toString).toList());
        threads = ThreadWatch.begin();
    }

    /** Creates the network of a test, with its hosts. */
    static Fabric create(RdmaFabric settings, ExtensionContext context) {
        String conditions = conditions(settings);
        List<String> names = names(settings);
        try {
            TestNetwork.Builder builder = TestNetwork.builder()
                    .mtuBytes(settings.mtuBytes())
                    .seed(seed(settings, context))
                    .conditions(conditions)
                    .recordPackets(TestNetwork.DEFAULT_RECORDING_BYTES)
                    .traceObjects();
            TestNetwork network = (settings.time() == FabricTime.VIRTUAL ? builder.virtualTime() : builder).build();
            for (int i = 0; i < names.size(); i++) {
                String address = settings.ipv6() ? "fd00::" + Integer.toHexString(i + 1) : "10.0.0." + (i + 1);
                var _ = network.addHost(address, new HostOptions().withName(names.get(i)));
            }
            return new Fabric(settings, conditions, network);
        } catch (IllegalArgumentException malformed) {
            throw new ExtensionConfigurationException("@RdmaFabric: " + malformed.getMessage(), malformed);
        }
    }

    /** Returns the faults in the form of the tools' option {@code --fault}. */
    private static String conditions(RdmaFabric settings) {
        StringJoiner parts = new StringJoiner(",");
        add(parts, "loss", settings.loss());
        add(parts, "delay", settings.delay());
        add(parts, "reorder", settings.reordering());
        add(parts, "dup", settings.duplication());
        add(parts, "corrupt", settings.corruption());
        add(parts, "rate", settings.linkSpeed());
        return parts.toString();
    }

    private static void add(StringJoiner parts, String name, String value) {
        if (!value.isEmpty()) {
            parts.add(name + "=" + value);
        }
    }

    private static List<String> names(RdmaFabric settings) {
        List<String> names = new ArrayList<>(List.of(settings.hosts()));
        if (names.isEmpty()) {
            for (int i = 1; i <= settings.hostCount(); i++) {
                names.add("host" + i);
            }
        }
        if (names.isEmpty() || names.size() > MAX_HOSTS) {
            throw new ExtensionConfigurationException(
                    "@RdmaFabric: " + names.size() + " hosts are not possible: use 1 to " + MAX_HOSTS);
        }
        if (names.stream().distinct().count() < names.size()) {
            throw new ExtensionConfigurationException("@RdmaFabric: two hosts have the same name: " + names);
        }
        return names;
    }

    private static long seed(RdmaFabric settings, ExtensionContext context) {
        String named = context.getConfigurationParameter(RdmaFabricExtension.SEED_PROPERTY)
                .orElse("");
        try {
            if (!named.isEmpty()) {
                return Long.parseLong(named);
            }
        } catch (NumberFormatException e) {
            throw new ExtensionConfigurationException(
                    RdmaFabricExtension.SEED_PROPERTY + " is '" + named + "', must be a whole number", e);
        }
        return settings.seed() != 0 ? settings.seed() : new SecureRandom().nextInt(1, MAX_SEED);
    }

    TestNetwork network() {
        return network;
    }

    /** Returns the names and addresses of the hosts, even after the network was closed. */
    String hosts() {
        return hosts;
    }

    /** Returns the initial conditions of the network, as text. */
    String conditions() {
        return conditions;
    }

    /** Returns a host by its position, from 0. */
    TestHost host(int position) {
        List<TestHost> hosts = network.hosts();
        if (position >= hosts.size()) {
            throw new ParameterResolutionException("parameter " + (position + 1)
                    + " of its type has no host: the network has " + hosts.size()
                    + ", see hosts and hostCount of @RdmaFabric");
        }
        return hosts.get(position);
    }

    /** Returns a host by its name. */
    TestHost host(String name) {
        return network.hosts().stream()
                .filter(host -> host.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ParameterResolutionException(
                        "there is no host '" + name + "': the network has " + network.hosts()));
    }

    /** Connects two hosts; the pair is closed before the check for leaks. */
    ConnectedPair connect(@Nullable Connect options) {
        TestHost from = options == null || options.from().isEmpty() ? host(0) : host(options.from());
        TestHost to = options == null || options.to().isEmpty()
                ? host(Math.min(1, network.hosts().size() - 1))
                : host(options.to());
        try {
            ConnectedPair pair = ConnectedPair.connect(
                    from, to, options == null ? ConnectedPair.DEFAULT_MEMORY_BYTES : options.memoryBytes());
            pairs.add(pair);
            return pair;
        } catch (RdmaException | IllegalArgumentException failed) {
            throw new ParameterResolutionException(
                    from + " could not be connected to " + to + ": " + failed.getMessage(), failed);
        }
    }

    /**
     * Ends the test: reports a failure, or otherwise checks for leaks, and closes the network.
     *
     * @param end the exception that ended the test, or null if it passed
     * @throws LeakError if the test passed, but left objects or threads
     */
    void finish(ExtensionContext context, @Nullable Throwable end) {
        if (end != null) {
            if (FailureReport.isFailure(end)) {
                // Before anything is closed, so that the last packets belong to the test.
                FailureReport.print(context, this);
            }
            close();
            return;
        }
        Leaks leaks = new Leaks(network, threads);
        try {
            closePairs();
            if (settings.checkLeaks()) {
                leaks.findObjects();
            }
        } finally {
            closeNetwork();
            if (settings.checkLeaks()) {
                leaks.findThreads();
            }
            threads.close();
        }
        LeakError leaked = leaks.error();
        if (leaked != null) {
            FailureReport.print(context, this);
            throw leaked;
        }
    }

    private void closePairs() {
        pairs.reversed().forEach(ConnectedPair::close);
        pairs.clear();
    }

    private void closeNetwork() {
        try {
            network.close();
        } catch (IllegalStateException leftOpen) {
            // Leaks are reported with the places where the objects were created; after a failure they are expected.
            return;
        }
    }

    /** Closes the network, even if objects are open in it; JUnit calls it if a test ends before its method. */
    @Override
    public void close() {
        try {
            closePairs();
        } finally {
            closeNetwork();
            threads.close();
        }
    }
}
