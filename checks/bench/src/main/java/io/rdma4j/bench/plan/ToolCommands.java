package io.rdma4j.bench.plan;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Experiments with this project's tools as users start them: by the launcher, including the start-up time. */
final class ToolCommands {
    /**
     * The client's destination when the server listens on all addresses: an address of an interface, unlike the
     * addresses of the other rows.
     */
    private static final String SERVER = "127.0.0.1";

    /** The time after which a server that does not warm up is ready. */
    static final long START_MILLIS = 1000;

    /** The time after which a server has warmed up. */
    private static final long WARM_UP_MILLIS = 5000;

    private ToolCommands() {}

    /** Returns the launcher. */
    static String launcher() {
        return Path.of(System.getProperty("rdma4j.home", "."))
                .resolve("rdma4j")
                .toAbsolutePath()
                .toString();
    }

    /**
     * Returns an experiment with a server of a tool, and a client of the same tool, which gets the server's address as
     * an additional argument, as for perftest and rstream.
     *
     * @param words the tool and its options
     * @param environment environment variables of both
     * @param reader extracts figures from the client's output
     */
    static Experiment pair(
            String words, Map<String, String> environment, Function<String, Map<String, Double>> reader) {
        List<String> server = new ArrayList<>(List.of(launcher()));
        server.addAll(List.of(words.split(" ")));
        List<String> client = new ArrayList<>(server);
        if (words.startsWith("rstream")) {
            client.add("-s");
        }
        client.add(SERVER);
        long headStartMillis = words.contains("--no-warm-up") ? START_MILLIS : WARM_UP_MILLIS;
        return prepared(new CommandPair(words, server, client, environment, headStartMillis, reader));
    }

    /** Returns an experiment that first builds the tools, so that no measurement includes the build. */
    static Experiment prepared(Experiment experiment) {
        return new PreparedExperiment(List.of(launcher(), "--build"), experiment);
    }
}
