package io.rdma4j.tools.sockets;

import io.rdma4j.tools.ToolReport;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What rstream and riostream are asked for.
 *
 * @param server {@code -s}: where the server is, as typed; null to be the server
 * @param bind {@code -b}: the local address as typed, or null
 * @param port {@code -p}: the server's port as typed
 * @param format {@code -f}: how addresses are written
 * @param bufferBytes {@code -B}: size of send and receive buffers; 0 for that of the tool
 * @param inlineBytes {@code -i}: messages up to this size are sent inline when latencies are measured
 * @param custom whether {@code -I}, {@code -C} or {@code -S} asks for one test instead of the series
 * @param iterations {@code -I}
 * @param transfers {@code -C}
 * @param sizeBytes {@code -S}
 * @param allSizes {@code -S all}
 * @param keepAliveSeconds {@code -k}; 0 for none
 * @param tests {@code -T}: how to test
 */
record StreamToolOptions(
        @Nullable String server,
        @Nullable String bind,
        String port,
        Format format,
        int bufferBytes,
        int inlineBytes,
        boolean custom,
        int iterations,
        int transfers,
        int sizeBytes,
        boolean allSizes,
        int keepAliveSeconds,
        Set<Test> tests) {
    /** How addresses are written. */
    enum Format {
        /** A name or an address. */
        NAME,
        /** An address. */
        IP,
        /** A GID, to be resolved by the connection manager. */
        GID
    }

    /** How to test. */
    enum Test {
        /** Over TCP. */
        SOCKETS("s", "sockets"),
        /** Wait for readiness before every call. */
        ASYNC("a", "async"),
        /** Calls that block. */
        BLOCKING("b", "blocking"),
        /** A process for each connection. */
        FORK("f", "fork"),
        /** Calls that do not block. */
        NONBLOCKING("n", "nonblocking"),
        /** Addresses are resolved by the connection manager. */
        RESOLVE("r", "resolve"),
        /** Every byte is compared. */
        VERIFY("v", "verify");

        private final String letter;
        private final String word;

        Test(String letter, String word) {
            this.letter = letter;
            this.word = word;
        }

        /** The test that a word of the command line means, or null: its letter, or what begins as C compares it. */
        static @Nullable Test of(String typed) {
            for (Test test : values()) {
                int compared = comparedLength(test);
                if (typed.length() == 1
                        ? typed.equals(test.letter)
                        : typed.length() >= compared && test.word.regionMatches(true, 0, typed, 0, compared)) {
                    return test;
                }
            }
            return null;
        }

        /** "sockets" is meant by "socket", "blocking" by "block", "nonblocking" by "nonblock". */
        private static int comparedLength(Test test) {
            return switch (test) {
                case SOCKETS -> "socket".length();
                case BLOCKING -> "block".length();
                case NONBLOCKING -> "nonblock".length();
                default -> test.word.length();
            };
        }
    }

    boolean isServer() {
        return server == null;
    }

    boolean has(Test test) {
        return tests.contains(test);
    }

    boolean isBlocking() {
        return has(Test.BLOCKING);
    }

    boolean usesTcp() {
        return has(Test.SOCKETS) || has(Test.FORK);
    }

    boolean usesResolver() {
        return has(Test.RESOLVE) || format == Format.GID;
    }

    /** The tests of a series that measures latencies, or bandwidths. */
    List<StreamTest> series(boolean latencies) {
        return StreamTest.sizes(allSizes).stream()
                .map(size -> latencies ? StreamTest.latency(size) : StreamTest.bandwidth(size))
                .toList();
    }

    /** The one test that was asked for. */
    StreamTest customTest() {
        return new StreamTest("custom", sizeBytes, transfers, iterations);
    }

    void tell(ToolReport report) {
        report.parameter("role", isServer() ? "server" : "client");
        if (server != null) {
            report.parameter("server", server);
        }
        if (bind != null) {
            report.parameter("bind", bind);
        }
        report.parameter("port", port)
                .parameter("series", custom ? "custom" : allSizes ? "all" : "default")
                .parameter("bufferBytes", bufferBytes)
                .parameter("inlineBytes", inlineBytes);
        if (custom) {
            report.parameter("iterations", iterations)
                    .parameter("transfers", transfers)
                    .parameter("sizeBytes", sizeBytes);
        }
        Set<String> names = new LinkedHashSet<>();
        tests.forEach(test -> names.add(test.word));
        report.parameter("keepAliveSeconds", keepAliveSeconds).parameter("tests", List.copyOf(names));
    }
}
