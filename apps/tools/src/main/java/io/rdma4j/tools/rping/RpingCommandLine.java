package io.rdma4j.tools.rping;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.HostAddresses;
import io.rdma4j.tools.command.OptionTable;
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
    static final OptionTable<RpingCommandLine> OPTIONS = OptionTable.<RpingCommandLine>tabbed()
            .option("-c\t\t", "client side", "Run as the client.", (line, _) -> line.takeRole(false))
            .option(
                    "-I\t\t",
                    "Source address to bind to for client.",
                    "Client: address to connect from.",
                    (line, value) -> line.source = line.lookUp(value, line.source))
            .withArgument("addr")
            .option(
                    "-s\t\t",
                    "server side.  To bind to any address with IPv6 use -a ::0",
                    "Run as the server. To serve IPv6 (and IPv4) on every address use `-a ::0`.",
                    (line, _) -> line.takeRole(true))
            .option("-v\t\t", "display ping data to stdout", "Print the data of every ping.", (line, _) -> {
                line.verbose = true;
                line.debug("verbose");
            })
            .option(
                    "-V\t\t",
                    "validate ping data",
                    "Client: compare the received data with the sent data.",
                    (line, _) -> {
                        line.validate = true;
                        line.debug("validate data");
                    })
            .option(
                    "-d\t\t",
                    "debug printfs",
                    "Print every step, and the stack traces of errors.",
                    (line, _) -> line.debug = true)
            .option(
                    "-S size \t",
                    "ping data size",
                    "Size of a ping in bytes, 23 to 65535; 64 by default. The server's size must not be smaller than"
                            + " the client's.",
                    (line, value) -> line.takeSize(CStrings.atoi(value)))
            .option(
                    "-C count\t",
                    "ping count times",
                    "Number of pings; without this option, or with 0, there is no limit.",
                    (line, value) -> line.takeCount(CStrings.atoi(value)))
            .option(
                    "-a addr\t\t",
                    "address",
                    "Server: address to listen on, every IPv4 address by default. Client: the server's name or"
                            + " address. A link-local address needs its interface: `fe80::1%eth0`.",
                    (line, value) -> line.address = Objects.requireNonNull(line.lookUp(value, line.address)))
            .option(
                    "-p port\t\t",
                    "port",
                    "Port, 7174 by default.",
                    (line, value) -> line.takePort(CStrings.atoi(value)))
            .option(
                    "-P\t\t",
                    "persistent server mode allowing multiple connections",
                    "Server: serve any number of clients, also concurrently, until killed.",
                    (line, _) -> line.persistent = true)
            .option(
                    "-q\t\t",
                    "use self-created, self-modified QP",
                    "Create and modify the queue pair without the connection manager.",
                    (line, _) -> line.ownQueuePair = true);

    static final String USAGE = """
        rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]
        rping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]
        """ + OPTIONS.usage();

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
        // As in C, getopt prints nothing.
        OPTIONS.parse("rping", arguments, this, null, _ -> usage());
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

    private void takeRole(boolean isServer) {
        server = isServer;
        debug(isServer ? "server" : "client");
    }

    /**
     * Resolves an address. The result, success or failure, replaces the status of earlier options.
     *
     * @return the address, or the earlier one on failure
     */
    private @Nullable InetAddress lookUp(String host, @Nullable InetAddress earlier) {
        try {
            InetAddress found = HostAddresses.first(host);
            status = 0;
            return found;
        } catch (HostAddresses.LookupException e) {
            environment.out().println("getaddrinfo failed (" + e.getMessage() + ") - invalid hostname or IP address");
            status = e.code();
            return earlier;
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
