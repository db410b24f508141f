package io.rdma4j.sockets;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * Which networks are reached over RDMA, and which over TCP. The first rule whose network contains an address counts; where
 * none does, RDMA. Immutable.
 *
 * <p>As text, for the system property {@value #PROPERTY}: rules separated by commas, each a network and where it goes:
 * {@code 10.1.0.0/16=rdma,127.0.0.0/8=tcp,*=either}. A network without length is one address; {@code *} is every address.
 *
 * @param rules in the order of their precedence
 */
public record AddressRules(List<Rule> rules) {
    /** The system property with the rules of the whole JVM. */
    public static final String PROPERTY = "rdma4j.sockets.rules";

    /** Everything over RDMA. */
    public static final AddressRules RDMA_ONLY = new AddressRules(List.of());

    /** What a connection goes over. */
    public enum Way {
        /** RDMA. */
        RDMA,
        /** TCP. */
        TCP,
        /** RDMA, and TCP where nobody listens with RDMA; servers listen on both. */
        EITHER
    }

    /**
     * One rule.
     *
     * @param network an address of the network; the wildcard address of IPv6 with length 0 for all addresses
     * @param prefixBits how many of its leading bits count; 0 for any address of any family
     * @param way where its connections go
     */
    public record Rule(InetAddress network, int prefixBits, Way way) {
        /** Checks the length. */
        public Rule {
            if (prefixBits < 0 || prefixBits > network.getAddress().length * Byte.SIZE) {
                throw new IllegalArgumentException("No network: " + network.getHostAddress() + "/" + prefixBits);
            }
        }

        private boolean contains(InetAddress address) {
            byte[] mine = network.getAddress();
            byte[] other = address.getAddress();
            if (prefixBits > 0 && mine.length != other.length) {
                return false;
            }
            for (int bit = 0; bit < prefixBits; bit++) {
                int mask = 0x80 >> (bit & 7);
                if (((mine[bit >> 3] ^ other[bit >> 3]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Copies the list. */
    public AddressRules {
        rules = List.copyOf(rules);
    }

    /** The rules of the system property {@value #PROPERTY}; {@link #RDMA_ONLY} if it is not set. */
    public static AddressRules ofJvm() {
        return parse(System.getProperty(PROPERTY, ""));
    }

    /**
     * Reads rules.
     *
     * @param text see above; empty for {@link #RDMA_ONLY}
     * @throws IllegalArgumentException if a rule makes no sense
     */
    public static AddressRules parse(String text) {
        List<Rule> rules = new ArrayList<>();
        for (String each : text.split(",", -1)) {
            if (!each.isBlank()) {
                rules.add(parseRule(each.strip()));
            }
        }
        return new AddressRules(rules);
    }

    private static Rule parseRule(String text) {
        int equals = text.lastIndexOf('=');
        String network = equals < 0 ? "" : text.substring(0, equals).strip();
        Way way = switch (text.substring(equals + 1).strip()) {
            case "rdma" -> Way.RDMA;
            case "tcp" -> Way.TCP;
            case "either" -> Way.EITHER;
            default -> throw unreadable(text);
        };
        if (network.equals("*")) {
            return new Rule(literal("::", text), 0, way);
        }
        int slash = network.indexOf('/');
        InetAddress address = literal(slash < 0 ? network : network.substring(0, slash), text);
        try {
            int bits = slash < 0
                    ? address.getAddress().length * Byte.SIZE
                    : Integer.parseInt(network.substring(slash + 1));
            return new Rule(address, bits, way);
        } catch (NumberFormatException e) {
            throw unreadable(text);
        }
    }

    private static InetAddress literal(String address, String rule) {
        try {
            return InetAddress.ofLiteral(address); // a name would be asked for in the network
        } catch (IllegalArgumentException e) {
            throw unreadable(rule);
        }
    }

    private static IllegalArgumentException unreadable(String rule) {
        return new IllegalArgumentException("Rule '" + rule
                + "' of RDMA sockets: expected NETWORK[/BITS]=rdma, =tcp or =either, as in 10.1.0.0/16=rdma");
    }

    /** What a connection to, or a listener at, an address goes over. */
    public Way wayTo(InetAddress address) {
        for (Rule rule : rules) {
            if (rule.contains(address)) {
                return rule.way();
            }
        }
        return Way.RDMA;
    }

    /**
     * What a listener at the wildcard address goes over: what all networks do, or both if they differ.
     */
    public Way wayToAll() {
        Way others = Way.RDMA;
        boolean differ = false;
        for (Rule rule : rules.reversed()) {
            if (rule.prefixBits() == 0) {
                others = rule.way();
                differ = false;
            } else {
                differ |= rule.way() != others;
            }
        }
        return differ ? Way.EITHER : others;
    }
}
