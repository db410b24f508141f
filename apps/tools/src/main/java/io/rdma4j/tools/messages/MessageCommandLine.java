package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PortSpace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parses the command lines of ucmatose and udaddy like the C tools, with their messages. */
final class MessageCommandLine {
    private static final int DEFAULT_MESSAGES = 10;
    private static final int DEFAULT_BYTES = 100;

    /** The options of ucmatose. */
    static final OptionTable<MessageCommandLine> UCMATOSE = common(
                    "tcp or ib",
                    "Number of connections (1).",
                    "Number of messages of each connection in each direction (10).",
                    "Size of a message in bytes (100).")
            .option("[-p port_number]", "", "Port (7471).", (line, value) -> line.port = value)
            .option(
                    "[-m(igrate)]",
                    "",
                    "Move the identifiers to another event channel before disconnecting.",
                    (line, _) -> line.migrate = true)
            .option(
                    "[-a ack_timeout]",
                    "",
                    "Exponent of the acknowledgement timeout.",
                    (line, value) -> line.ackTimeout = lowByte(value));

    /** The options of udaddy. */
    static final OptionTable<MessageCommandLine> UDADDY = common(
                    "udp or ipoib",
                    "Number of services (1).",
                    "Number of datagrams of each service in each direction (10).",
                    "Size of a datagram in bytes (100), at most the path MTU.")
            .option(
                    "[-p port_space -",
                    "0x111 for UDP (default), 0x2 for IPOIB",
                    "Port space by number: 0x111 for udp, 0x2 for ipoib.",
                    MessageCommandLine::takePortSpaceNumber);

    private final String tool;
    private final ToolEnvironment environment;
    private @Nullable String server;
    private @Nullable String source;
    private MessageOptions.Format format = MessageOptions.Format.NAME;
    private PortSpace portSpace;
    private String port;
    private int connections = 1;
    private int messageCount = DEFAULT_MESSAGES;
    private int messageBytes = DEFAULT_BYTES;
    private int typeOfService = -1;
    private int ackTimeout = -1;
    private boolean migrate;

    /**
     * Creates a parser.
     *
     * @param portSpace the default port space, which {@code -P} overrides
     * @param port the default port, which {@code -p} overrides
     */
    MessageCommandLine(String tool, PortSpace portSpace, String port, ToolEnvironment environment) {
        this.tool = tool;
        this.portSpace = portSpace;
        this.port = port;
        this.environment = environment;
    }

    private static OptionTable<MessageCommandLine> common(
            String portSpaces, String connections, String count, String size) {
        return OptionTable.<MessageCommandLine>tabbed()
                .option(
                        "[-s server_address]",
                        "",
                        "Run as a client of the server at this address. Without it, run as the server.",
                        (line, value) -> line.server = value)
                .option("[-b bind_address]", "", "Local address.", (line, value) -> line.source = value)
                .option(
                        "[-f address_format]",
                        "\n\t    name, ip, ipv6, or gid",
                        "Format of addresses: name, ip or gid.",
                        MessageCommandLine::takeFormat)
                .option("[-P port_space]", "\n\t    " + portSpaces, portSpaces + ".", MessageCommandLine::takePortSpace)
                .option("[-c connections]", "", connections, (line, value) -> line.connections = CStrings.atoi(value))
                .option("[-C message_count]", "", count, (line, value) -> line.messageCount = CStrings.atoi(value))
                .option("[-S message_size]", "", size, (line, value) -> line.messageBytes = CStrings.atoi(value))
                .option(
                        "[-t type_of_service]",
                        "",
                        "IPv4 type of service or IPv6 traffic class.",
                        (line, value) -> line.typeOfService = lowByte(value));
    }

    private static int lowByte(String value) {
        return (int) CStrings.strtol(value) & 0xff;
    }

    /** Returns the usage text that C prints. */
    static String usage(String tool, OptionTable<MessageCommandLine> options) {
        return "usage: " + tool + "\n" + options.usage();
    }

    /**
     * Parses a command line.
     *
     * @param options the options of the tool
     * @throws ToolFailure if it is invalid; the reason has been printed
     */
    MessageOptions read(List<String> arguments, OptionTable<MessageCommandLine> options) throws ToolFailure {
        try {
            var _ = options.parse(tool, arguments, this, environment.err(), _ -> new ToolFailure(1));
            if (connections < 1 || messageCount < 0 || messageBytes < 0) {
                environment.err().println(tool + ": -c must be at least 1, and -C and -S at least 0");
                throw new ToolFailure(1);
            }
        } catch (ToolFailure e) {
            environment.out().print(usage(tool, options));
            throw e;
        }
        return new MessageOptions(
                server,
                source,
                format,
                portSpace,
                port,
                connections,
                messageCount,
                messageBytes,
                typeOfService,
                ackTimeout,
                migrate);
    }

    private void takeFormat(String word) {
        if (beginsWith(word, "ip")) {
            format = MessageOptions.Format.IP;
        } else if (beginsWith(word, "gid")) {
            format = MessageOptions.Format.GID;
        } else if (!beginsWith(word, "name")) {
            environment.err().println("Warning: unknown address format");
        }
    }

    private void takePortSpace(String word) {
        boolean datagrams = portSpace.isDatagram();
        if (beginsWith(word, datagrams ? "ipoib" : "ib")) {
            portSpace = datagrams ? PortSpace.IPOIB : PortSpace.IB;
        } else if (!beginsWith(word, datagrams ? "udp" : "tcp")) {
            environment.err().println("Warning: unknown port space format");
        }
    }

    private void takePortSpaceNumber(String value) throws ToolFailure {
        long number = CStrings.strtol(value);
        PortSpace found = portSpace(number);
        if (found == null || !found.isDatagram()) {
            environment.err().println(tool + ": " + number + " is not a datagram port space: 0x111 is UDP, 0x2 IPOIB");
            throw new ToolFailure(1);
        }
        portSpace = found;
    }

    /** Returns the port space with a number, or null. */
    static @Nullable PortSpace portSpace(long number) {
        for (PortSpace each : PortSpace.values()) {
            if (each.code() == number) {
                return each;
            }
        }
        return null;
    }

    /**
     * Returns whether a word begins with a prefix, ignoring case. C: {@code strncasecmp} with the length of the prefix.
     */
    private static boolean beginsWith(String word, String prefix) {
        return word.regionMatches(true, 0, prefix, 0, prefix.length());
    }
}
