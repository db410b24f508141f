package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A parser of the command line of udpong that behaves like C's parser. Used once. */
final class UdpongCommandLine {
    static final OptionTable<UdpongCommandLine> OPTIONS = OptionTable.<UdpongCommandLine>tabbed()
            .option(
                    "[-s server_address]",
                    "",
                    "Run as a client of the server at this address.",
                    (line, value) -> line.server = value)
            .option(
                    "[-b bind_address]",
                    "",
                    "Local address. A server without this option listens on all addresses.",
                    (line, value) -> line.bind = value)
            .option(
                    "[-B buffer_size]",
                    "",
                    "Size of send and receive buffers in bytes (524288).",
                    (line, value) -> line.bufferBytes = CStrings.atoi(value))
            .option(
                    "[-C transfer_count]",
                    "",
                    "Run a single test with this number of datagrams (1000).",
                    (line, value) -> {
                        line.custom = true;
                        line.count = CStrings.atoi(value);
                    })
            .option(
                    "[-S transfer_size]",
                    "",
                    "Run a single test with datagrams of this size in bytes (1000), 16 to 2032, 2020 over IPv6.",
                    UdpongCommandLine::takeSize)
            .option("[-p port_number]", "", "Port of the server (7174).", (line, value) -> line.port = value)
            .option(
                    "[-T test_option]",
                    "\n" + """
                        \t    s|sockets - use standard tcp/ip sockets
                        \t    a|async - asynchronous operation (use poll)
                        \t    b|blocking - use blocking calls
                        \t    n|nonblocking - use nonblocking calls
                        \t    e|echo - server echoes all messages\
                        """,
                    "May be repeated. `s` use UDP instead of RDMA; `a` wait for readiness (poll) before every call;"
                            + " `b` use blocking calls; `n` use non-blocking calls, the default; `e` let the server echo"
                            + " each datagram: with -C or -S, a test of latency.",
                    UdpongCommandLine::takeTest);

    static final String USAGE = "usage: udpong\n" + OPTIONS.usage();

    private static final int DEFAULT_COUNT = 1000;
    private static final int DEFAULT_BYTES = 1000;

    private final ToolEnvironment environment;

    private @Nullable String server;
    private @Nullable String bind;
    private String port = "7174";
    private int bufferBytes;
    private boolean custom;
    private int count = DEFAULT_COUNT;
    private int sizeBytes = DEFAULT_BYTES;
    private boolean usesUdp;
    private boolean isAsync;
    private boolean isBlocking;
    private boolean isEcho;

    UdpongCommandLine(ToolEnvironment environment) {
        this.environment = environment;
    }

    /**
     * Parses the arguments.
     *
     * @throws ToolFailure if they are invalid; the reason has been printed
     */
    UdpongOptions read(List<String> arguments) throws ToolFailure {
        var _ = OPTIONS.parse("udpong", arguments, this, environment.err(), _ -> usage());
        return new UdpongOptions(
                server, bind, bufferBytes, custom, count, sizeBytes, port, usesUdp, isAsync, isBlocking, isEcho);
    }

    private void takeSize(String value) throws ToolFailure {
        custom = true;
        sizeBytes = CStrings.atoi(value);
        if (sizeBytes < UdpongMessage.CONTROL_BYTES) {
            environment.out().println("size must be at least " + UdpongMessage.CONTROL_BYTES + " bytes");
            throw new ToolFailure(1);
        }
    }

    /** Parses a test option: a letter, or a word that starts with the name of the option. */
    private void takeTest(String value) throws ToolFailure {
        String word = value.toLowerCase(Locale.ROOT);
        if (value.equals("s") || word.startsWith("socket")) {
            usesUdp = true;
        } else if (value.equals("a") || word.startsWith("async")) {
            isAsync = true;
        } else if (value.equals("b") || word.startsWith("block")) {
            isBlocking = true;
        } else if (value.equals("n") || word.startsWith("nonblock")) {
            isBlocking = false;
        } else if (value.equals("e") || word.startsWith("echo")) {
            isEcho = true;
        } else {
            throw usage();
        }
    }

    private ToolFailure usage() {
        environment.out().print(USAGE);
        return new ToolFailure(1);
    }
}
