package io.rdma4j.tools.rping;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.HostAddresses;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.Errno;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Parses the command line of rping like C's tool, with its messages.
 *
 * <p>As in C, an invalid value does not end the parsing, and a valid address after it clears the error.
 */
final class RpingCommandLine {
    /** The letter t takes an argument but is not implemented: it prints the usage. */
    private static final String LETTERS = "a:I:Pp:C:S:t:scvVdq";

    static final String USAGE = """
        rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]
        rping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]
        \t-c\t\tclient side
        \t-I\t\tSource address to bind to for client.
        \t-s\t\tserver side.  To bind to any address with IPv6 use -a ::0
        \t-v\t\tdisplay ping data to stdout
        \t-V\t\tvalidate ping data
        \t-d\t\tdebug printfs
        \t-S size \tping data size
        \t-C count\tping count times
        \t-a addr\t\taddress
        \t-p port\t\tport
        \t-P\t\tpersistent server mode allowing multiple connections
        \t-q\t\tuse self-created, self-modified QP
        """;

    private final ToolEnvironment environment;
    private int status;
    private @Nullable Boolean server;
    private boolean persistent;
    private InetAddress address = Inet4Address.ofLiteral("0.0.0.0");
    private @Nullable InetAddress source;
    private int port = RpingOptions.DEFAULT_PORT;
    private int count;
    private int sizeBytes = RpingOptions.DEFAULT_SIZE_BYTES;
    private boolean verbose;
    private boolean validate;
    private boolean debug;
    private boolean ownQueuePair;

    private RpingCommandLine(ToolEnvironment environment) {
        this.environment = environment;
    }

    /**
     * Parses a command line.
     *
     * @throws ToolFailure if it is invalid; the reason has been printed
     */
    static RpingOptions parse(List<String> arguments, ToolEnvironment environment) throws ToolFailure {
        return new RpingCommandLine(environment).read(arguments);
    }

    private RpingOptions read(List<String> arguments) throws ToolFailure {
        Getopt options = new Getopt("rping", LETTERS, arguments, null);
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            take(letter, options);
        }
        if (status != 0) {
            throw new ToolFailure(status);
        }
        if (server == null) {
            throw usage();
        }
        return new RpingOptions(
                server,
                persistent,
                new InetSocketAddress(address, port),
                source,
                count,
                sizeBytes,
                verbose,
                validate,
                debug,
                ownQueuePair);
    }

    private void take(int letter, Getopt options) throws ToolFailure {
        switch (letter) {
            case 'a' -> address = Objects.requireNonNullElse(lookUp(options.requiredArgument()), address);
            case 'I' -> {
                InetAddress found = lookUp(options.requiredArgument());
                source = found == null ? source : found;
            }
            case 'P' -> persistent = true;
            case 'p' -> takePort(CStrings.atoi(options.requiredArgument()));
            case 's' -> {
                server = true;
                debug("server");
            }
            case 'c' -> {
                server = false;
                debug("client");
            }
            case 'S' -> takeSize(CStrings.atoi(options.requiredArgument()));
            case 'C' -> takeCount(CStrings.atoi(options.requiredArgument()));
            case 'v' -> {
                verbose = true;
                debug("verbose");
            }
            case 'V' -> {
                validate = true;
                debug("validate data");
            }
            case 'd' -> debug = true;
            case 'q' -> ownQueuePair = true;
            default -> throw usage();
        }
    }

    /**
     * Resolves an address. The result, success or failure, replaces the status of earlier options.
     *
     * @return the address, or null on failure
     */
    private @Nullable InetAddress lookUp(String host) {
        try {
            InetAddress found = HostAddresses.first(host);
            status = 0;
            return found;
        } catch (HostAddresses.LookupException e) {
            environment.out().println("getaddrinfo failed (" + e.getMessage() + ") - invalid hostname or IP address");
            status = e.code();
            return null;
        }
    }

    private void takePort(int number) {
        port = number & 0xffff;
        debug("port " + number);
    }

    private void takeSize(int number) {
        sizeBytes = number;
        // C's comparison with the minimum is unsigned: a negative size passes it and fails at the allocation.
        boolean tooSmall = number >= 0 && number < RpingOptions.MINIMUM_SIZE_BYTES;
        if (tooSmall || number >= RpingOptions.SIZE_LIMIT_BYTES) {
            environment
                    .err()
                    .println("Invalid size " + number + " (valid range is " + RpingOptions.MINIMUM_SIZE_BYTES + " to "
                            + RpingOptions.SIZE_LIMIT_BYTES + ")");
            status = Errno.EINVAL.number();
        } else {
            debug("size " + number);
        }
    }

    private void takeCount(int number) {
        count = number;
        if (number < 0) {
            environment.err().println("Invalid count " + number);
            status = Errno.EINVAL.number();
        } else {
            debug("count " + number);
        }
    }

    private ToolFailure usage() {
        environment.out().print(USAGE);
        return new ToolFailure(Errno.EINVAL.number());
    }

    private void debug(String line) {
        if (debug) {
            environment.out().println(line);
        }
    }
}
