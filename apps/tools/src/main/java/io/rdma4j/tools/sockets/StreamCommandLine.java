package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.sockets.StreamToolOptions.Format;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A parser of the command line of rstream or riostream that behaves like C's parser, including its quirks. Used once.
 */
final class StreamCommandLine {
    /** The options of rstream. */
    static final OptionTable<StreamCommandLine> RSTREAM = common(
                    "Local address. A client with a local address uses the server's port number also locally.")
            .option(
                    "[-k keepalive_time]",
                    "",
                    "Idle time before a keep-alive probe, in seconds.",
                    (line, value) -> line.keepAliveSeconds = CStrings.atoi(value))
            .option(
                    "[-T test_option]",
                    "\n" + """
                        \t    s|sockets - use standard tcp/ip sockets
                        \t    a|async - asynchronous operation (use poll)
                        \t    b|blocking - use blocking calls
                        \t    f|fork - fork server processing
                        \t    n|nonblocking - use nonblocking calls
                        \t    r|resolve - use rdma cm to resolve address
                        \t    v|verify - verify data\
                        """,
                    "May be repeated. `s` use TCP instead of RDMA; `a` wait for readiness (poll) before every call;"
                            + " `b` use blocking calls; `n` use non-blocking calls, the default; `f` start a process for"
                            + " each connection, over TCP; `r` resolve addresses with the connection manager; `v` compare"
                            + " every byte.",
                    StreamCommandLine::takeTest);

    /** The options of riostream. */
    static final OptionTable<StreamCommandLine> RIOSTREAM = common("Local address of a server; a client ignores it.")
            .option(
                    "[-T test_option]",
                    "\n" + """
                        \t    a|async - asynchronous operation (use poll)
                        \t    b|blocking - use blocking calls
                        \t    n|nonblocking - use nonblocking calls
                        \t    v|verify - verify data\
                        """,
                    "May be repeated. `a` wait for readiness (poll) before every call; `b` use blocking calls; `n` use"
                            + " non-blocking calls, the default; `v` compare every byte.",
                    StreamCommandLine::takeTest);

    private final String tool;
    private final OptionTable<StreamCommandLine> options;
    private final Set<Test> permitted;
    private final ToolEnvironment environment;

    private @Nullable String server;
    private @Nullable String bind;
    private String port = "7471";
    private Format format = Format.NAME;
    private int bufferBytes;
    private int inlineBytes = 64;
    private boolean custom;
    private int iterations = 1;
    private int transfers = 1000;
    private int sizeBytes = 1000;
    private boolean allSizes;
    private int keepAliveSeconds;
    private final EnumSet<Test> tests = EnumSet.noneOf(Test.class);

    /**
     * Creates a parser.
     *
     * @param options the options of the tool
     * @param permitted the permitted values of {@code -T}
     */
    StreamCommandLine(
            String tool, OptionTable<StreamCommandLine> options, Set<Test> permitted, ToolEnvironment environment) {
        this.tool = tool;
        this.options = options;
        this.permitted = permitted;
        this.environment = environment;
    }

    private static OptionTable<StreamCommandLine> common(String bind) {
        return OptionTable.<StreamCommandLine>tabbed()
                .option(
                        "[-s server_address]",
                        "",
                        "Run as a client of the server at this address.",
                        (line, value) -> line.server = value)
                .option("[-b bind_address]", "", bind, (line, value) -> line.bind = value)
                .option(
                        "[-f address_format]",
                        "\n\t    name, ip, ipv6, or gid",
                        "`ip` accepts only addresses, no names; `gid` accepts addresses that the connection manager"
                                + " resolves.",
                        StreamCommandLine::takeFormat)
                .option(
                        "[-B buffer_size]",
                        "",
                        "Size of send and receive buffers in bytes (524288).",
                        (line, value) -> line.bufferBytes = CStrings.atoi(value))
                .option(
                        "[-i inline_size]",
                        "",
                        "Send messages up to this size in bytes inline in latency tests (64).",
                        (line, value) -> line.inlineBytes = CStrings.atoi(value))
                .option(
                        "[-I iterations]",
                        "",
                        "Run a single test with this number of iterations; an iteration has both directions (1).",
                        (line, value) -> {
                            line.custom = true;
                            line.iterations = CStrings.atoi(value);
                        })
                .option(
                        "[-C transfer_count]",
                        "",
                        "Run a single test with this number of consecutive transfers in one direction (1000).",
                        (line, value) -> {
                            line.custom = true;
                            line.transfers = CStrings.atoi(value);
                        })
                .option(
                        "[-S transfer_size or all]",
                        "",
                        "Run a single test with transfers of this size in bytes (1000). `all` runs a series of 33"
                                + " sizes, from 64 bytes to 6 MiB, instead of 4.",
                        StreamCommandLine::takeSize)
                .option("[-p port_number]", "", "Port of the server (7471).", (line, value) -> line.port = value);
    }

    /** Returns the usage text that C prints. */
    static String usage(String tool, OptionTable<StreamCommandLine> options) {
        return "usage: " + tool + "\n" + options.usage();
    }

    /**
     * Parses the arguments.
     *
     * @throws ToolFailure if they are invalid; the usage has been printed
     */
    StreamToolOptions read(List<String> arguments) throws ToolFailure {
        var _ = options.parse(tool, arguments, this, environment.err(), _ -> usage());
        return new StreamToolOptions(
                server,
                bind,
                port,
                format,
                bufferBytes,
                inlineBytes,
                custom,
                iterations,
                transfers,
                sizeBytes,
                allSizes,
                keepAliveSeconds,
                Collections.unmodifiableSet(tests));
    }

    private ToolFailure usage() {
        environment.out().print(usage(tool, options));
        return new ToolFailure(1);
    }

    private void takeSize(String value) {
        if (startsWithIgnoringCase(value, "all")) {
            allSizes = true;
        } else {
            custom = true;
            sizeBytes = CStrings.atoi(value);
        }
    }

    private void takeFormat(String value) {
        if (startsWithIgnoringCase(value, "ip")) {
            format = Format.IP;
        } else if (startsWithIgnoringCase(value, "gid")) {
            format = Format.GID;
        } else {
            environment.err().println("Warning: unknown address format");
        }
    }

    private void takeTest(String value) throws ToolFailure {
        Test test = Test.of(value);
        if (test == null || !permitted.contains(test)) {
            throw usage();
        }
        // The later of these two options takes effect.
        if (test == Test.NONBLOCKING) {
            tests.remove(Test.BLOCKING);
        } else if (test == Test.BLOCKING) {
            tests.remove(Test.NONBLOCKING);
        }
        tests.add(test);
    }

    private static boolean startsWithIgnoringCase(String word, String prefix) {
        return word.regionMatches(true, 0, prefix, 0, prefix.length());
    }
}
