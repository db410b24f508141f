package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.tools.Getopt;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.QueuePairType;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a run of rdma_xclient or rdma_xserver is to do.
 *
 * @param endpoint where they meet
 * @param extended {@code -c x}: over an extended reliable connection (XRC), not a reliable one
 */
record CommunicationOptions(EndpointOptions endpoint, boolean extended) {
    private static final String COMMUNICATIONS =
            "\t[-c communication type]\n\t    r - RC: reliable-connected (default)\n\t    x - XRC: extended-reliable-connected\n";

    /** Room for the port's digits in C's client. */
    private static final int PORT_DIGITS = 5;

    private static final String LOOPBACK = "127.0.0.1";

    /** What C prints of rdma_xclient's options. */
    static String usageOfClient() {
        return "usage: rdma_xclient\n\t[-s server]\n\t[-p port_number]\n" + COMMUNICATIONS;
    }

    /** What C prints of rdma_xserver's options. */
    static String usageOfServer() {
        return "usage: rdma_xserver\n\t[-p port_number]\n" + COMMUNICATIONS;
    }

    /** Reads a command line of rdma_xclient; null if it makes no sense, which has been said. */
    static @Nullable CommunicationOptions ofClient(List<String> arguments, ToolEnvironment environment) {
        Getopt options = new Getopt("rdma_xclient", "s:p:c:", arguments, environment.err());
        return read(options, LOOPBACK, usageOfClient(), environment);
    }

    /** Reads a command line of rdma_xserver; null if it makes no sense, which has been said. */
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
                extended = true; // for good: in C too a later r changes nothing
            } else if (!kind.startsWith("r")) {
                environment.out().print(usage);
                return null;
            }
        }
        return new CommunicationOptions(new EndpointOptions(server, port), extended);
    }

    /** What to look an address up for. */
    AddressInformation.Hints hints(QueuePairType extendedType, AddressInformation.Flag... flags) {
        return extended
                ? AddressInformation.Hints.of(PortSpace.IB, flags).withQueuePairType(extendedType)
                : AddressInformation.Hints.of(PortSpace.TCP, flags);
    }
}
