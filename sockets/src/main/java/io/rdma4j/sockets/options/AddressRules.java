package io.rdma4j.sockets.options;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * Rules that choose between RDMA and TCP by network. The first rule whose network contains an address applies. If no
 * rule does, the address is reached over RDMA. Immutable.
 *
 * <p>In the system property {@value #PROPERTY}, rules are separated by commas:
 * {@code 10.1.0.0/16=rdma,127.0.0.0/8=tcp,*=either}. A network without a prefix length is a single address; {@code *}
 * matches every address.
 *
 * @param rules in order of precedence
 */
public record AddressRules(List<Rule> rules) {
    /** The system property with the rules of the JVM. */
    public static final String PROPERTY = "rdma4j.sockets.rules";

    /** Rules that reach every address over RDMA. */
    public static final AddressRules RDMA_ONLY = new AddressRules(List.of());

    /** The transport of a connection. */
    public enum Transport {
        /** RDMA. */
        RDMA,
        /** TCP. */
        TCP,
        /** RDMA, or TCP if no socket listens over RDMA; servers listen on both. */
        EITHER
    }

    /**
     * A rule for one network.
     *
     * @param network an address of the network; the IPv6 wildcard address with prefix length 0 for all addresses
     * @param prefixBits the prefix length of the network in bits; 0 matches any address of any family
     * @param transport the transport of connections to the network
     */
    public record Rule(InetAddress network, int prefixBits, Transport transport) {
        /** Checks the prefix length. */
        public Rule {
            if (prefixBits < 0 || prefixBits > network.getAddress().length * Byte.SIZE) {
                throw new IllegalArgumentException("No network: " + network.getHostAddress() + "/" + prefixBits);
            }
        }

        private boolean contains(InetAddress address) {
            byte[] expected = network.getAddress();
            byte[] other = address.getAddress();
            if (prefixBits > 0 && expected.length != other.length) {
                return false;
            }
            for (int bit = 0; bit < prefixBits; bit++) {
                int mask = 0x80 >> (bit & 7);
                if (((expected[bit >> 3] ^ other[bit >> 3]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Copies the rules. */
    public AddressRules {
        rules = List.copyOf(rules);
    }

    /** Returns the rules of the system property {@value #PROPERTY}, or {@link #RDMA_ONLY} if it is not set. */
    public static AddressRules ofJvm() {
        return parse(System.getProperty(PROPERTY, ""));
    }

    /**
     * Parses rules.
     *
     * @param text rules in the syntax described above; empty for {@link #RDMA_ONLY}
     * @throws IllegalArgumentException if a rule is malformed
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
        Transport transport = switch (text.substring(equals + 1).strip()) {
            case "rdma" -> Transport.RDMA;
            case "tcp" -> Transport.TCP;
            case "either" -> Transport.EITHER;
            default -> throw malformed(text);
        };
        if (network.equals("*")) {
            return new Rule(literal("::", text), 0, transport);
        }
        int slash = network.indexOf('/');
        InetAddress address = literal(slash < 0 ? network : network.substring(0, slash), text);
        try {
            int bits = slash < 0
                    ? address.getAddress().length * Byte.SIZE
                    : Integer.parseInt(network.substring(slash + 1));
            return new Rule(address, bits, transport);
        } catch (NumberFormatException e) {
            throw malformed(text);
        }
    }

    private static InetAddress literal(String address, String rule) {
        try {
            return InetAddress.ofLiteral(address); // a host name would cause a DNS query
        } catch (IllegalArgumentException e) {
            throw malformed(rule);
        }
    }

    private static IllegalArgumentException malformed(String rule) {
        return new IllegalArgumentException("Rule '" + rule
                + "' of RDMA sockets: expected NETWORK[/BITS]=rdma, =tcp or =either, as in 10.1.0.0/16=rdma");
    }

    /** Returns the transport for connections to an address and for listeners at it. */
    public Transport transportTo(InetAddress address) {
        for (Rule rule : rules) {
            if (rule.contains(address)) {
                return rule.transport();
            }
        }
        return Transport.RDMA;
    }

    /**
     * Returns the transport for a listener at the wildcard address: that of all networks, or both transports if the
     * networks differ.
     */
    public Transport transportToAll() {
        Transport defaultTransport = Transport.RDMA;
        boolean differ = false;
        for (Rule rule : rules.reversed()) {
            if (rule.prefixBits() == 0) {
                defaultTransport = rule.transport();
                differ = false;
            } else {
                differ |= rule.transport() != defaultTransport;
            }
        }
        return differ ? Transport.EITHER : defaultTransport;
    }
}
