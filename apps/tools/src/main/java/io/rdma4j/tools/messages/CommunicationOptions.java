package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run of rdma_xclient or rdma_xserver.
 *
 * @param endpoint the address and port of the server
 * @param extended {@code -c x}: true for an extended reliable connection (XRC), false for a reliable one
 */
record CommunicationOptions(EndpointOptions endpoint, boolean extended) {
    private static final String COMMUNICATIONS =
            "\t[-c communication type]\n\t    r - RC: reliable-connected (default)\n\t    x - XRC: extended-reliable-connected\n";

    /** The number of characters that C's client keeps of the port. */
    private static final int PORT_DIGITS = 5;

    private static final String LOOPBACK = "127.0.0.1";

    /** Returns the usage text that C prints for rdma_xclient. */
    static String usageOfClient() {
        return "usage: rdma_xclient\n\t[-s server]\n\t[-p port_number]\n" + COMMUNICATIONS;
    }

    /** Returns the usage text that C prints for rdma_xserver. */
    static String usageOfServer() {
        return "usage: rdma_xserver\n\t[-p port_number]\n" + COMMUNICATIONS;
    }

    /** Parses a command line of rdma_xclient. Returns null after printing an error message if it is invalid. */
    static @Nullable CommunicationOptions ofClient(List<String> arguments, ToolEnvironment environment) {
        Getopt options = new Getopt("rdma_xclient", "s:p:c:", arguments, environment.err());
        return read(options, LOOPBACK, usageOfClient(), environment);
    }

    /** Parses a command line of rdma_xserver. Returns null after printing an error message if it is invalid. */
    static @Nullable CommunicationOptions ofServer(List<String> arguments, ToolEnvironment environment) {
        Getopt options = new Getopt("rdma_xserver", "p:c:", arguments, environment.err());
        return read(options, null, usageOfServer(), environment);
    }

    private static @Nullable CommunicationOptions read(
            Getopt options, @Nullable String defaultServer, String usage, ToolEnvironment environment) {
        String server = defaultServer;
        String port = EndpointOptions.DEFAULT_PORT;
        boolean extended = false;
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            String argument = options.argumentOrEmpty();
            String kind = letter == 'c' ? argument.toLowerCase(Locale.ROOT) : "";
            if (letter == 's') {
                server = argument;
            } else if (letter == 'p') {
                port = server == null || argument.length() <= PORT_DIGITS
                        ? argument
                        : argument.substring(0, PORT_DIGITS);
            } else if (kind.startsWith("x")) {
                extended = true; // a later r does not reset it, as in C
            } else if (!kind.startsWith("r")) {
                environment.out().print(usage);
                return null;
            }
        }
        return new CommunicationOptions(new EndpointOptions(server, port), extended);
    }

    /** Returns the hints for resolving the server's address. */
    AddressInformation.Hints hints(QueuePairType extendedType, AddressInformation.Flag... flags) {
        return extended
                ? AddressInformation.Hints.of(PortSpace.IB, flags).withQueuePairType(extendedType)
                : AddressInformation.Hints.of(PortSpace.TCP, flags);
    }
}
