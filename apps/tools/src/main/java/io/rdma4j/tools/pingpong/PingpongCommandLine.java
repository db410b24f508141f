package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PathMtu;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A parser of the command line of a ping-pong, with the messages of C's tool. */
final class PingpongCommandLine {
    private static final int DEFAULT_QUEUE_PAIRS = 16;

    /**
     * The parts of a command line that differ between the tools.
     *
     * @param letters the letters of the options
     * @param sizeBytes the default size of a message
     * @param statedSizeBytes the default size that C's help states
     * @param levelSyntax the syntax of {@code -l}
     * @param levelText the text of {@code -l} in the help text
     */
    record Form(String letters, long sizeBytes, long statedSizeBytes, String levelSyntax, String levelText) {
        Form(String letters) {
            this(letters, 4096, 4096, "-l, --sl=<sl>", "service level value");
        }

        private boolean has(char letter) {
            return letters.indexOf(letter) >= 0;
        }
    }

    private final String tool;
    private final Form form;
    private final ToolEnvironment environment;
    private int tcpPort = PingpongOptions.DEFAULT_TCP_PORT;
    private @Nullable String device;
    private int port = 1;
    private long sizeBytes;
    private PathMtu mtu = PathMtu.MTU_1024;
    private int queuePairs = 1;
    private int receiveDepth = 500;
    private int exchanges = 1000;
    private boolean events;
    private int serviceLevel;
    private int gidIndex = -1;
    private boolean timestamps;
    private boolean validate;
    private boolean onDemand;
    private boolean implicitOnDemand;
    private boolean unprotected;
    private boolean prefetch;
    private boolean deviceMemory;

    /**
     * Creates a parser.
     *
     * @param tool the name of the tool, for messages
     * @param form the options of the tool
     * @param environment the environment with the output streams
     */
    PingpongCommandLine(String tool, Form form, ToolEnvironment environment) {
        this.tool = tool;
        this.form = form;
        this.environment = environment;
        sizeBytes = form.sizeBytes();
        queuePairs = form.has('q') ? DEFAULT_QUEUE_PAIRS : 1;
    }

    /** Returns the options of a tool, in the order and with the blanks of C's help text. */
    static OptionTable<PingpongCommandLine> options(Form form) {
        return OptionTable.<PingpongCommandLine>aligned(22)
                .option(
                        "-p, --port=<port>",
                        "listen on/connect to port <port> (default 18515)",
                        (line, value) -> line.tcpPort = line.inRange(value, 0, 0xffff))
                .option(
                        "-d, --ib-dev=<dev>",
                        "use IB device <dev> (default first device found)",
                        (line, value) -> line.device = value)
                .option(
                        "-i, --ib-port=<port>",
                        "use port <port> of IB device (default 1)",
                        (line, value) -> line.port = line.inRange(value, 1, Integer.MAX_VALUE))
                .option(
                        "-s, --size=<size>",
                        "size of message to exchange (default " + form.statedSizeBytes() + ")",
                        (line, value) -> line.sizeBytes = Integer.toUnsignedLong(number(value)))
                .option("-m, --mtu=<size>", "path MTU (default 1024)", (line, value) -> {
                    PathMtu chosen = mtu(number(value));
                    if (chosen == null) {
                        throw line.usage();
                    }
                    line.mtu = chosen;
                })
                .option(
                        "-q, --num-qp=<num>",
                        "number of QPs to use (default 16)",
                        (line, value) -> line.queuePairs = number(value))
                .option(
                        "-r, --rx-depth=<dep>",
                        "number of receives to post at a time (default 500)",
                        (line, value) -> line.receiveDepth = number(value))
                .option(
                        "-n, --iters=<iters>",
                        // C's text for several queue pairs. The number nevertheless applies to all of them together.
                        form.has('q')
                                ? "number of exchanges per QP(default 1000)"
                                : "number of exchanges (default 1000)",
                        (line, value) -> line.exchanges = number(value))
                .option(form.levelSyntax(), form.levelText(), (line, value) -> line.serviceLevel = number(value))
                .option("-e, --events", "sleep on CQ events (default poll)", (line, _) -> line.events = true)
                .option(
                        "-g, --gid-idx=<gid index>",
                        "local port gid index",
                        (line, value) -> line.gidIndex = number(value))
                .option("-o, --odp\t\t    ", "use on demand paging", (line, _) -> line.onDemand = true)
                .option("-O, --iodp\t\t    ", "use implicit on demand paging", (line, _) -> {
                    line.onDemand = true;
                    line.implicitOnDemand = true;
                })
                .option("-P, --prefetch\t    ", "prefetch an ODP MR", (line, _) -> line.prefetch = true)
                .option("-t, --ts\t            ", "get CQE with timestamp", (line, _) -> line.timestamps = true)
                .option(
                        form.has('t') ? "-c, --chk\t            " : "-c, --chk",
                        "validate received buffer",
                        (line, _) -> line.validate = true)
                .option("-j, --dm\t            ", "use device memory", (line, _) -> line.deviceMemory = true)
                .option("-N, --new_send            ", "use new post send WR API", (_, _) -> {
                    // There is only one way to post a SEND.
                })
                .option(
                        "-U, --allow-cc-unprotected  ",
                        "allow allocation of unprotected/shared\n                            memory on CoCo guests",
                        (line, _) -> line.unprotected = true)
                .only(form.letters());
    }

    /** Returns the usage text of a tool. */
    static String usage(String tool, Form form) {
        return head(tool) + options(form).usage();
    }

    /** Returns the lines of a usage text before the options. */
    static String head(String tool) {
        return """
            Usage:
              TOOL            start a server and wait for connection
              TOOL <host>     connect to server at <host>

            Options:
            """.replace("TOOL", tool);
    }

    /**
     * Parses the arguments.
     *
     * @throws ToolFailure if the command line is invalid; the reason has been printed
     */
    PingpongOptions read(List<String> arguments) throws ToolFailure {
        List<String> operands = options(form).parse(tool, arguments, this, environment.err(), _ -> usage());
        if (operands.size() > 1) {
            throw usage();
        }
        if (form.has('q')) {
            checkQueuePairs();
        }
        if (onDemand && deviceMemory) {
            throw refusal("DM memory region can't be on demand");
        }
        if (unprotected && onDemand) {
            throw refusal("CoCo unprotected memory cannot be used with ODP");
        }
        if (unprotected && deviceMemory) {
            throw refusal("CoCo unprotected memory cannot be used with device memory");
        }
        if (prefetch && !onDemand) {
            throw refusal("prefetch is valid only with on-demand memory region");
        }
        return new PingpongOptions(
                operands.isEmpty() ? null : operands.getFirst(),
                tcpPort,
                device,
                port,
                sizeBytes,
                mtu,
                queuePairs,
                receiveDepth,
                serviceLevel,
                exchanges,
                events,
                gidIndex,
                timestamps,
                validate,
                onDemand,
                implicitOnDemand,
                deviceMemory);
    }

    private void checkQueuePairs() throws ToolFailure {
        if (sizeBytes == 0) {
            throw usage();
        }
        if (queuePairs == 0) {
            throw refusal("num_qp must be at least 1");
        }
        if (Integer.compareUnsigned(queuePairs, receiveDepth) > 0) {
            throw refusal("rx_depth " + receiveDepth + " is too small for " + queuePairs
                    + " QPs -- must have at least one receive per QP.");
        }
        if (Integer.compareUnsigned(queuePairs, SharedReceivesTransport.ADDRESSES) >= 0) {
            throw refusal("num_qp " + queuePairs + " must be less than " + (SharedReceivesTransport.ADDRESSES - 1));
        }
    }

    private int inRange(String value, int min, int max) throws ToolFailure {
        int number = number(value);
        if (number < min || number > max) {
            throw usage();
        }
        return number;
    }

    /** Returns an argument as a number, parsed like C's {@code strtol}. */
    static int number(String value) {
        return (int) CStrings.strtol(value);
    }

    /** Returns the path MTU with the given number of bytes, or null if there is none. */
    static @Nullable PathMtu mtu(int bytes) {
        for (PathMtu each : PathMtu.values()) {
            if (each.bytes() == bytes) {
                return each;
            }
        }
        return null;
    }

    private ToolFailure usage() {
        environment.out().print(usage(tool, form));
        return new ToolFailure(1);
    }

    private ToolFailure refusal(String line) {
        environment.err().println(line);
        return new ToolFailure(1);
    }
}
