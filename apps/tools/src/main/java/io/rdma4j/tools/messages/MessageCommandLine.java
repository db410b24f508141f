package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.PortSpace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parses the command lines of ucmatose and udaddy like the C tools, with their messages. */
final class MessageCommandLine {
    private static final int DEFAULT_MESSAGES = 10;
    private static final int DEFAULT_BYTES = 100;

    private final String tool;
    private final String letters;
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
     * @param letters the option letters of the tool, as for getopt
     * @param portSpace the default port space, which {@code -P} overrides
     * @param port the default port, which {@code -p} overrides
     */
    MessageCommandLine(String tool, String letters, PortSpace portSpace, String port, ToolEnvironment environment) {
        this.tool = tool;
        this.letters = letters;
        this.portSpace = portSpace;
        this.port = port;
        this.environment = environment;
    }

    /** Parses a command line. Returns null after printing an error message if it is invalid. */
    @Nullable
    MessageOptions read(List<String> arguments) {
        Getopt options = new Getopt(tool, letters, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (letter == '?' || !take(letter, options.argumentOrEmpty())) {
                return null;
            }
        }
        if (connections < 1 || messageCount < 0 || messageBytes < 0) {
            environment.err().println(tool + ": -c must be at least 1, and -C and -S at least 0");
            return null;
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

    private boolean take(int letter, String argument) {
        switch (letter) {
            case 's' -> server = argument;
            case 'b' -> source = argument;
            case 'f' -> takeFormat(argument);
            case 'P' -> takePortSpace(argument);
            case 'c' -> connections = CStrings.atoi(argument);
            case 'C' -> messageCount = CStrings.atoi(argument);
            case 'S' -> messageBytes = CStrings.atoi(argument);
            case 't' -> typeOfService = (int) CStrings.strtol(argument) & 0xff;
            case 'a' -> ackTimeout = (int) CStrings.strtol(argument) & 0xff;
            case 'm' -> migrate = true;
            case 'p' -> {
                if (portSpace.isDatagram()) {
                    return takePortSpaceNumber(CStrings.strtol(argument));
                }
                port = argument;
            }
            default -> {
                return false;
            }
        }
        return true;
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

    private boolean takePortSpaceNumber(long number) {
        PortSpace found = portSpace(number);
        if (found == null || !found.isDatagram()) {
            environment.err().println(tool + ": " + number + " is not a datagram port space: 0x111 is UDP, 0x2 IPOIB");
            return false;
        }
        portSpace = found;
        return true;
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
