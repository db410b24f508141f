package io.rdma4j.soft.options;

import io.rdma4j.transport.cm.CmConfiguration;
import java.util.ArrayList;
import java.util.List;

/**
 * The limits that the software device imposes on its peers; see SECURITY.md. Immutable.
 *
 * @param sourcePort the treatment of a connection's packets from a UDP port other than the peer's
 * @param requestsPerSecond the average number of connection requests per second that are processed from one address; 32 times as
 *     many for requests of an address to itself, to which {@code connectionsPerPeer} does not apply
 * @param requestBurst the number of connection requests that are processed from one address in a burst; 32 times as many for
 *     requests of an address to itself
 * @param halfOpen the number of peers' connections that may wait for the listener's reply or the end of the handshake at the same
 *     time
 * @param connectionsPerPeer the number of connections that peers of one address may have requested and hold at the same time
 * @param violations the peers that have their requests refused after illegal accesses to memory
 * @param allowsForeignRequests true if connection management accepts messages that name a sender other than their source
 */
public record SecurityOptions(
        SourcePort sourcePort,
        int requestsPerSecond,
        int requestBurst,
        int halfOpen,
        int connectionsPerPeer,
        Violations violations,
        boolean allowsForeignRequests) {
    /** System property with a text of the form {@link #SYNTAX}. */
    public static final String PROPERTY = "rdma4j.security";

    /** The syntax that {@link #parse} accepts. */
    public static final String SYNTAX = "source-port=auto|off|count|enforce,request-rate=N,request-burst=N,half-open=N,"
            + "connections=N,violations=remote|all|off,foreign-requests=drop|allow in any order and number,"
            + " where N is a number from 1 to 1000000000";

    /** The default limits. */
    public static final SecurityOptions DEFAULT = new SecurityOptions(
            SourcePort.AUTO,
            CmConfiguration.DEFAULT_REQUESTS_PER_SECOND,
            CmConfiguration.DEFAULT_REQUEST_BURST,
            CmConfiguration.DEFAULT_MAX_HALF_OPEN,
            CmConfiguration.DEFAULT_MAX_CONNECTIONS_PER_PEER,
            Violations.REMOTE,
            false);

    private static final int MAX_LIMIT = 1_000_000_000;

    /** The treatment of a connection's packets from a UDP port other than the peer's. */
    public enum SourcePort {
        /** {@link #ENFORCE} for peers that are rdma4j by their GUID, {@link #COUNT} for all others. */
        AUTO,
        /** Such packets are accepted. */
        OFF,
        /** Such packets are accepted, and changes of the port are counted. */
        COUNT,
        /** Such packets are dropped and counted. */
        ENFORCE
    }

    /** The peers that have their connection requests refused for a minute after illegal accesses to memory. */
    public enum Violations {
        /** Peers on other hosts, since all processes of this host share its addresses. */
        REMOTE,
        /** All peers. */
        ALL,
        /** No peers. */
        OFF
    }

    /** Checks the limits. */
    public SecurityOptions {
        check("request-rate", requestsPerSecond);
        check("request-burst", requestBurst);
        check("half-open", halfOpen);
        check("connections", connectionsPerPeer);
    }

    private static void check(String name, int value) {
        if (value < 1 || value > MAX_LIMIT) {
            throw new IllegalArgumentException(name + " " + value + " is not 1 to " + MAX_LIMIT);
        }
    }

    /**
     * Returns the options of the system property {@value #PROPERTY}.
     *
     * @throws IllegalArgumentException if its value does not match {@link #SYNTAX}
     */
    public static SecurityOptions fromSystemProperty() {
        String text = System.getProperty(PROPERTY);
        try {
            return text == null ? DEFAULT : parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("system property " + PROPERTY + ": " + e.getMessage(), e);
        }
    }

    /**
     * Parses options such as {@code source-port=enforce,request-rate=100}. Options that the text does not name have
     * their default values.
     *
     * @throws IllegalArgumentException if the text does not match {@link #SYNTAX}
     */
    public static SecurityOptions parse(String text) {
        SecurityOptions options = DEFAULT;
        List<String> seen = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            int equals = part.indexOf('=');
            String name = equals < 0 ? part : part.substring(0, equals);
            if (seen.contains(name)) {
                throw wrong(text, "'" + name + "' is given twice");
            }
            seen.add(name);
            try {
                options = options.with(name, part.substring(equals + 1));
            } catch (IllegalArgumentException e) {
                throw wrong(text, "'" + part + "' is not an option and its value");
            }
        }
        return options;
    }

    private SecurityOptions with(String name, String value) {
        SourcePort port = sourcePort;
        int rate = requestsPerSecond;
        int burst = requestBurst;
        int waiting = halfOpen;
        int connections = connectionsPerPeer;
        Violations punished = violations;
        boolean foreign = allowsForeignRequests;
        switch (name) {
            case "source-port" -> port = choice(SourcePort.class, value);
            case "request-rate" -> rate = Integer.parseInt(value);
            case "request-burst" -> burst = Integer.parseInt(value);
            case "half-open" -> waiting = Integer.parseInt(value);
            case "connections" -> connections = Integer.parseInt(value);
            case "violations" -> punished = choice(Violations.class, value);
            case "foreign-requests" -> foreign = isAllowed(value);
            default -> throw new IllegalArgumentException(name);
        }
        return new SecurityOptions(port, rate, burst, waiting, connections, punished, foreign);
    }

    private static <E extends Enum<E>> E choice(Class<E> type, String value) {
        for (E each : type.getEnumConstants()) {
            if (each.name().equalsIgnoreCase(value)) {
                return each;
            }
        }
        throw new IllegalArgumentException(value);
    }

    private static boolean isAllowed(String value) {
        return switch (value) {
            case "allow" -> true;
            case "drop" -> false;
            default -> throw new IllegalArgumentException(value);
        };
    }

    private static IllegalArgumentException wrong(String text, String what) {
        return new IllegalArgumentException("options '" + text + "': " + what + "; use " + SYNTAX);
    }
}
