package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.ToolReport;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of rstream and riostream.
 *
 * @param server {@code -s}: the server's address as typed, or null to be the server
 * @param bind {@code -b}: the local address as typed, or null
 * @param port {@code -p}: the server's port as typed
 * @param format {@code -f}: the format of addresses
 * @param bufferBytes {@code -B}: the size of send and receive buffers, 0 for the tool's default
 * @param inlineBytes {@code -i}: the size up to which messages are sent inline in latency tests
 * @param custom true if {@code -I}, {@code -C} or {@code -S} selects a single test instead of the series
 * @param iterations {@code -I}: the number of iterations of the single test
 * @param transfers {@code -C}: the number of transfers in each direction of the single test
 * @param sizeBytes {@code -S}: the size in bytes of a transfer of the single test
 * @param allSizes {@code -S all}: true for a series with all sizes
 * @param keepAliveSeconds {@code -k}: the keep-alive time, 0 for none
 * @param tests {@code -T}: the test options
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
    /** The largest transfer and buffer of a warm-up. Its two sides must not need much more memory than the tool. */
    private static final int MOST_BYTES = 1 << 20;

    /** The format of addresses. */
    enum Format {
        /** A name or an address. */
        NAME,
        /** An address. */
        IP,
        /** A GID, which the connection manager resolves. */
        GID
    }

    /** A test option. */
    enum Test {
        /** Uses TCP sockets. */
        SOCKETS("s", "sockets"),
        /** Waits for readiness before every call. */
        ASYNC("a", "async"),
        /** Uses blocking calls. */
        BLOCKING("b", "blocking"),
        /** Starts a process for each connection. */
        FORK("f", "fork"),
        /** Uses non-blocking calls. */
        NONBLOCKING("n", "nonblocking"),
        /** Resolves addresses with the connection manager. */
        RESOLVE("r", "resolve"),
        /** Compares every byte. */
        VERIFY("v", "verify");

        private final String letter;
        private final String word;

        Test(String letter, String word) {
            this.letter = letter;
            this.word = word;
        }

        /**
         * Returns the option with the given letter or word, or null. Words are compared as in C, by their first
         * characters.
         */
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

        /** Returns the number of characters that C compares: "socket", "block" and "nonblock" suffice. */
        private static int comparedLength(Test test) {
            return switch (test) {
                case SOCKETS -> "socket".length();
                case BLOCKING -> "block".length();
                case NONBLOCKING -> "nonblock".length();
                default -> test.word.length();
            };
        }
    }

    /** Returns the options of one side of a warm-up, which uses a separate address. */
    StreamToolOptions forWarmUp(InetSocketAddress address, boolean isServer) {
        return new StreamToolOptions(
                isServer ? null : address.getHostString(),
                isServer ? address.getHostString() : null,
                String.valueOf(address.getPort()),
                Format.IP,
                Math.min(bufferBytes, MOST_BYTES),
                inlineBytes,
                custom,
                iterations,
                transfers,
                Math.min(sizeBytes, MOST_BYTES),
                allSizes,
                keepAliveSeconds,
                tests);
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

    /** Returns the tests of a series that measures latencies or bandwidths. */
    List<StreamTest> series(boolean latencies) {
        return StreamTest.sizes(allSizes).stream()
                .map(size -> latencies ? StreamTest.latency(size) : StreamTest.bandwidth(size))
                .toList();
    }

    /** Returns the single test of {@code -I}, {@code -C} and {@code -S}. */
    StreamTest customTest() {
        return new StreamTest("custom", sizeBytes, transfers, iterations);
    }

    void report(ToolReport report) {
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
