package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.Getopt.LongOption;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PathMtu;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A parser of the command line of a ping-pong, with the messages of C's tool. */
final class PingpongCommandLine {
    private static final List<LongOption> LONG_OPTIONS = List.of(
            new LongOption("port", true, 'p'),
            new LongOption("ib-dev", true, 'd'),
            new LongOption("ib-port", true, 'i'),
            new LongOption("size", true, 's'),
            new LongOption("mtu", true, 'm'),
            new LongOption("num-qp", true, 'q'),
            new LongOption("rx-depth", true, 'r'),
            new LongOption("iters", true, 'n'),
            new LongOption("sl", true, 'l'),
            new LongOption("events", false, 'e'),
            new LongOption("gid-idx", true, 'g'),
            new LongOption("odp", false, 'o'),
            new LongOption("iodp", false, 'O'),
            new LongOption("prefetch", false, 'P'),
            new LongOption("ts", false, 't'),
            new LongOption("chk", false, 'c'),
            new LongOption("dm", false, 'j'),
            new LongOption("new_send", false, 'N'),
            new LongOption("allow-cc-unprotected", false, 'U'));

    private static final int DEFAULT_QUEUE_PAIRS = 16;

    private final String tool;
    private final String letters;
    private final String usage;
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
     * @param letters the tool's options, as for getopt(3); their long names are also accepted
     * @param sizeBytes the default size of a message
     * @param usage the text to print if the command line is invalid
     * @param environment the environment with the output streams
     */
    PingpongCommandLine(String tool, String letters, long sizeBytes, String usage, ToolEnvironment environment) {
        this.tool = tool;
        this.letters = letters;
        this.sizeBytes = sizeBytes;
        this.usage = usage;
        this.environment = environment;
        if (hasManyQueuePairs()) {
            queuePairs = DEFAULT_QUEUE_PAIRS;
        }
    }

    private boolean hasManyQueuePairs() {
        return letters.indexOf('q') >= 0;
    }

    /**
     * Parses the arguments.
     *
     * @throws ToolFailure if the command line is invalid; the reason has been printed
     */
    PingpongOptions read(List<String> arguments) throws ToolFailure {
        List<LongOption> longOptions = LONG_OPTIONS.stream()
                .filter(option -> letters.indexOf(option.letter()) >= 0)
                .toList();
        Getopt options = new Getopt(tool, letters, longOptions, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            parse(letter, options);
        }
        if (options.operands().size() > 1) {
            throw usage();
        }
        if (hasManyQueuePairs()) {
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
                options.operands().isEmpty() ? null : options.operands().getFirst(),
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

    private void parse(int letter, Getopt options) throws ToolFailure {
        switch (letter) {
            case 'p' -> {
                tcpPort = number(options);
                if (tcpPort < 0 || tcpPort > 0xffff) {
                    throw usage();
                }
            }
            case 'd' -> device = options.requiredArgument();
            case 'i' -> {
                port = number(options);
                if (port < 1) {
                    throw usage();
                }
            }
            case 's' -> sizeBytes = Integer.toUnsignedLong(number(options));
            case 'm' -> {
                PathMtu chosen = mtu(number(options));
                if (chosen == null) {
                    throw usage();
                }
                mtu = chosen;
            }
            case 'q' -> queuePairs = number(options);
            case 'r' -> receiveDepth = number(options);
            case 'n' -> exchanges = number(options);
            case 'g' -> gidIndex = number(options);
            case 'e' -> events = true;
            case 't' -> timestamps = true;
            case 'c' -> validate = true;
            case 'j' -> deviceMemory = true;
            case 'P' -> prefetch = true;
            case 'o' -> onDemand = true;
            case 'O' -> {
                onDemand = true;
                implicitOnDemand = true;
            }
            case 'U' -> unprotected = true;
            case 'l' -> serviceLevel = number(options);
            case 'N' -> {
                // There is only one way to post a SEND.
            }
            default -> throw usage();
        }
    }

    /** Returns the option's argument as a number, parsed as by C's {@code strtol}. */
    static int number(Getopt options) {
        return (int) CStrings.strtol(options.requiredArgument());
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
        environment.out().print(usage);
        return new ToolFailure(1);
    }

    private ToolFailure refusal(String line) {
        environment.err().println(line);
        return new ToolFailure(1);
    }
}
