package io.rdma4j.sockets.options;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;

/** The hosts that a rule of {@link AddressRules} applies to. Immutable. */
sealed interface HostPattern {
    /** Every host. */
    HostPattern ANY = new Any();

    /**
     * Returns whether an address belongs to these hosts.
     *
     * @param address a resolved address
     */
    boolean contains(InetSocketAddress address);

    /** Returns the pattern in the syntax of rules, without the brackets that an IPv6 network needs before a port. */
    @Override
    String toString();

    /** Every host. */
    record Any() implements HostPattern {
        @Override
        public boolean contains(InetSocketAddress address) {
            return true;
        }

        @Override
        public String toString() {
            return "*";
        }
    }

    /**
     * The hosts of a network.
     *
     * @param address an address of the network
     * @param prefixBits the prefix length of the network in bits
     */
    record Network(InetAddress address, int prefixBits) implements HostPattern {
        /** Checks the prefix length. */
        public Network {
            if (prefixBits < 0 || prefixBits > maxPrefixBits(address)) {
                throw new IllegalArgumentException("Invalid network: " + address.getHostAddress() + "/" + prefixBits);
            }
        }

        /** Returns the length of an address in bits. */
        static int maxPrefixBits(InetAddress address) {
            return address.getAddress().length * Byte.SIZE;
        }

        @Override
        public boolean contains(InetSocketAddress other) {
            byte[] expected = address.getAddress();
            byte[] actual = other.getAddress().getAddress();
            if (expected.length != actual.length) {
                return false;
            }
            for (int bit = 0; bit < prefixBits; bit++) {
                int mask = 0x80 >> (bit & 7);
                if (((expected[bit >> 3] ^ actual[bit >> 3]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public String toString() {
            String text = address.getHostAddress();
            return prefixBits == maxPrefixBits(address) ? text : text + "/" + prefixBits;
        }
    }

    /**
     * The hosts with a name. An address belongs to them if the program has created it from this name. The name is not
     * resolved.
     *
     * @param name a host name, or {@code *.} and a domain for all names in it; in lower case
     */
    record Name(String name) implements HostPattern {
        private static final String ANY_IN = "*.";

        /** Converts the name to lower case. */
        public Name {
            name = name.toLowerCase(Locale.ROOT);
        }

        @Override
        public boolean contains(InetSocketAddress address) {
            String host = address.getHostString().toLowerCase(Locale.ROOT);
            if (host.endsWith(".")) {
                host = host.substring(0, host.length() - 1); // a fully qualified name
            }
            return name.startsWith(ANY_IN) ? host.endsWith(name.substring(1)) : host.equals(name);
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
