package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.ToolEnvironment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses the command lines of both forms like the C tools, with their messages. */
final class CmtimeCommandLine {
    private static final String TOOL = "cmtime";

    /**
     * C has one colon after the S, so that the option requires an argument, although the usage text shows none. Here
     * the argument is optional.
     */
    private static final String LETTERS = "B:b:C:c:Lm:n:P:p:q:r:S::t:";

    private static final String CLASSIC_LETTERS = "s:b:c:p:r:t:";
    private static final int DEFAULT_CONNECTIONS = 100;
    private static final int DEFAULT_RETRIES = 2;
    private static final int DEFAULT_TIMEOUT_MILLIS = 2000;
    private static final int MAX_CONNECTIONS = 10_000_000;
    private static final int MAX_QUEUE_PAIR_NUMBER = 0xff_ffff;

    private final ToolEnvironment environment;
    private @Nullable String server;
    private @Nullable String source;
    private @Nullable String controller;
    private String port = "7471";
    private int connections = DEFAULT_CONNECTIONS;
    private boolean listens;
    private boolean simulates;
    private int delayMicros;
    private int threads = 1;
    private int peers = 2;
    private int firstQueuePair = 1000;
    private int retries = DEFAULT_RETRIES;
    private boolean sockets;
    private int timeoutMillis = DEFAULT_TIMEOUT_MILLIS;
    private boolean wantsUsage = true;

    CmtimeCommandLine(ToolEnvironment environment) {
        this.environment = environment;
    }

    /** Returns whether the usage should be printed after {@link #read} has failed. */
    boolean wantsUsage() {
        return wantsUsage;
    }

    // ---- classic form

    /** Parses a command line of the classic form. Returns null after printing an error message if it is invalid. */
    @Nullable
    ClassicOptions readClassic(List<String> arguments) {
        Getopt options = new Getopt(TOOL, CLASSIC_LETTERS, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (!takeCommon(letter, options.argumentOrEmpty())) {
                return null;
            }
        }
        return areCountsValid() ? new ClassicOptions(server, source, connections, port, retries, timeoutMillis) : null;
    }

    private boolean takeCommon(int letter, String argument) {
        switch (letter) {
            case 's' -> server = argument;
            case 'b' -> source = argument;
            case 'c' -> connections = CStrings.atoi(argument);
            case 'p' -> port = argument;
            case 'r' -> retries = CStrings.atoi(argument);
            case 't' -> timeoutMillis = CStrings.atoi(argument);
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean areCountsValid() {
        if (connections < 1 || retries < 0 || timeoutMillis < 1) {
            return refuse("-c and -t must be at least 1, and -r at least 0");
        }
        if (connections > MAX_CONNECTIONS) {
            return refuse("-c must be at most " + MAX_CONNECTIONS);
        }
        return true;
    }

    private boolean refuse(String text) {
        environment.err().println(TOOL + ": " + text);
        return false;
    }

    // ---- mesh form

    /** Parses a command line of the mesh form. Returns null after printing an error message if it is invalid. */
    @Nullable
    CmtimeOptions read(List<String> arguments) {
        Getopt options = new Getopt(TOOL, LETTERS, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (letter == '?') {
                explainUnknown(options.unknownOption());
                return null;
            }
            if (!take(letter, options.argumentOrEmpty())) {
                return null;
            }
        }
        if (source == null || controller == null) {
            refuse("-C, and one of -B and -b, must be given");
            return null;
        }
        if (!areCountsValid() || !isMeshValid()) {
            return null;
        }
        return new CmtimeOptions(
                source,
                controller,
                port,
                connections,
                listens,
                simulates,
                delayMicros,
                threads,
                peers,
                firstQueuePair,
                retries,
                sockets,
                timeoutMillis);
    }

    private void explainUnknown(char letter) {
        if (letter == 's') {
            refuse("-s is an option of rdma-core up to version 51; use cmtime --classic -s ADDRESS");
        }
    }

    private boolean isMeshValid() {
        if (peers < 2) {
            return refuse("-P must be at least 2");
        }
        if ((long) connections * peers > MAX_CONNECTIONS) {
            return refuse("-c times -P must be at most " + MAX_CONNECTIONS);
        }
        if (sockets && peers > 2) {
            return refuse("-S works with two instances only; leave -P out");
        }
        if (threads < 1 || delayMicros < 0) {
            return refuse("-n must be at least 1, and -m at least 0");
        }
        if (firstQueuePair < 1 || firstQueuePair > MAX_QUEUE_PAIR_NUMBER) {
            return refuse("-q must be 1 to " + MAX_QUEUE_PAIR_NUMBER);
        }
        return true;
    }

    private boolean take(int letter, String argument) {
        switch (letter) {
            case 'B', 'b' -> {
                return takeSource(letter, argument);
            }
            case 'C' -> controller = argument;
            case 'L' -> listens = true;
            case 'm' -> {
                delayMicros = CStrings.atoi(argument);
                simulates = true;
            }
            case 'n' -> threads = CStrings.atoi(argument);
            case 'P' -> peers = CStrings.atoi(argument);
            case 'q' -> firstQueuePair = CStrings.atoi(argument);
            case 'S' -> sockets = true;
            default -> {
                return takeCommon(letter, argument);
            }
        }
        return true;
    }

    private boolean takeSource(int letter, String argument) {
        if (source != null) {
            return refuse("-B and -b both give the source address; specify one of them, once");
        }
        source = letter == 'b' ? argument : addressOf(argument);
        return source != null;
    }

    /** Returns the first address of a network interface, IPv4 before IPv6, as {@code getifaddrs} orders them. */
    private @Nullable String addressOf(String name) {
        Optional<InetAddress> first = Optional.empty();
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            if (found != null) {
                // Java lists the address first that was added last.
                first = found.inetAddresses().toList().reversed().stream()
                        .min(Comparator.comparing(address -> !(address instanceof Inet4Address)));
            }
        } catch (SocketException e) {
            refuse(name + ": " + e.getMessage());
        }
        if (first.isEmpty()) {
            environment.err().println("Failed to find IP address for interface: " + name);
            wantsUsage = false;
            return null;
        }
        String address = first.get().getHostAddress();
        environment.out().println("Picking source address " + address + " for interface " + name);
        return address;
    }
}
