package io.rdma4j.sockets.options;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rules that choose between RDMA and TCP by host and port. The first rule that matches an address applies. An address
 * that no rule matches is reached over RDMA. Immutable.
 *
 * <p>In the system property {@value #PROPERTY}, rules are separated by commas. A rule is {@code HOSTS=TRANSPORT} or
 * {@code HOSTS:PORTS=TRANSPORT}, for example
 * {@code 10.1.0.0/16=rdma,*:5432=tcp,db.example.com=tcp,[fd00::/8]:9000-9099=rdma,*=either}.
 *
 * <ul>
 *   <li>HOSTS is {@code *} for every host, an address, a network with its prefix length, a host name, or
 *       {@code *.example.com} for the names in a domain. Brackets enclose an IPv6 address or network if ports follow. A
 *       host name applies to addresses that the program has created from this name. The name is not resolved: the rule
 *       does not apply if the program connects to the same host by another name or by its address.
 *   <li>PORTS is a port, or the first and the last port of a range. Without ports a rule applies to all ports.
 *   <li>TRANSPORT is {@code rdma}, {@code tcp} or {@code either}: RDMA, or TCP if RDMA is refused.
 * </ul>
 */
public final class AddressRules {
    /** The system property with the rules of the JVM. */
    public static final String PROPERTY = "rdma4j.sockets.rules";

    /**
     * The system property with the time in seconds for which {@link Transport#EITHER} remembers that a peer refused
     * RDMA or did not answer; by default {@value #DEFAULT_REFUSED_SECONDS}. During this time, connections to the same
     * address and port use TCP without an attempt over RDMA. If a connection over TCP fails, the peer is forgotten
     * early.
     */
    public static final String REFUSED_SECONDS_PROPERTY = "rdma4j.sockets.refusedSeconds";

    /**
     * The system property with the maximum number of peers that are remembered; by default
     * {@value #DEFAULT_REFUSED_PEERS}, 0 for none.
     */
    public static final String REFUSED_PEERS_PROPERTY = "rdma4j.sockets.refusedPeers";

    /** The default of {@value #REFUSED_SECONDS_PROPERTY}. */
    public static final int DEFAULT_REFUSED_SECONDS = 60;

    /** The default of {@value #REFUSED_PEERS_PROPERTY}. */
    public static final int DEFAULT_REFUSED_PEERS = 1024;

    /** Rules that reach every address over RDMA. */
    public static final AddressRules RDMA_ONLY = new AddressRules(List.of());

    /** Rules that reach every address over RDMA, or over TCP if RDMA is refused. */
    public static final AddressRules EITHER =
            new AddressRules(List.of(new Rule(HostPattern.ANY, PortRange.ALL, Transport.EITHER)));

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
     * A range of ports.
     *
     * @param first the first port
     * @param last the last port
     */
    record PortRange(int first, int last) {
        static final int MAX_PORT = 0xffff;

        /** All ports. */
        static final PortRange ALL = new PortRange(0, MAX_PORT);

        /** Checks the range. */
        PortRange {
            if (first < 0 || first > last || last > MAX_PORT) {
                throw new IllegalArgumentException("Invalid range of ports: " + first + "-" + last);
            }
        }

        boolean contains(int port) {
            return port >= first && port <= last;
        }
    }

    /**
     * A rule for hosts and ports.
     *
     * @param hosts the hosts
     * @param ports the ports
     * @param transport the transport of connections to them
     */
    record Rule(HostPattern hosts, PortRange ports, Transport transport) {
        private boolean containsPort(int port) {
            return port == 0 ? ports.equals(PortRange.ALL) : ports.contains(port);
        }

        /** Returns whether the rule may apply to a listener, with a port and names that may be unknown. */
        private boolean mayApplyAt(@Nullable InetSocketAddress local, int port) {
            boolean mayContain = local == null || hosts instanceof HostPattern.Name || hosts.contains(local);
            return mayContain && (port == 0 || ports.contains(port));
        }

        /** Returns whether the rule certainly applies to a listener. */
        private boolean appliesAt(@Nullable InetSocketAddress local, int port) {
            boolean contains = local == null ? hosts.equals(HostPattern.ANY) : hosts.contains(local);
            return contains && containsPort(port);
        }
    }

    /** The rules in order of precedence. */
    private final List<Rule> rules;

    private AddressRules(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    /** Returns whether there are no rules, so that every address is reached over RDMA. */
    public boolean isEmpty() {
        return rules.isEmpty();
    }

    /**
     * Returns the rules of the system property {@value #PROPERTY}. An address that none of them matches uses
     * {@link Transport#EITHER}. If the property is not set, all addresses do.
     *
     * @throws IllegalArgumentException if a rule is malformed
     */
    public static AddressRules ofJvm() {
        List<Rule> all = new ArrayList<>(parse(System.getProperty(PROPERTY, "")).rules);
        all.addAll(EITHER.rules);
        return new AddressRules(all);
    }

    /**
     * Parses rules.
     *
     * @param text rules in the syntax described above; empty for {@link #RDMA_ONLY}
     * @throws IllegalArgumentException if a rule is malformed; the message names the wrong part and the allowed values
     */
    public static AddressRules parse(String text) {
        List<Rule> rules = new ArrayList<>();
        for (String each : text.split(",", -1)) {
            if (!each.isBlank()) {
                rules.add(RuleParser.parse(each.strip()));
            }
        }
        return new AddressRules(rules);
    }

    /**
     * Returns the transport for connections to an address.
     *
     * @param remote a resolved address with a port; rules with a host name apply to the name from which it was created
     */
    public Transport transportTo(InetSocketAddress remote) {
        for (Rule rule : rules) {
            if (rule.hosts().contains(remote) && rule.ports().contains(remote.getPort())) {
                return rule.transport();
            }
        }
        return Transport.RDMA;
    }

    /**
     * Returns the transport for a listener at an address: the transport of all connections to it, or
     * {@link Transport#EITHER} if the rules do not determine a single one. For a wildcard address, the rules may differ
     * between networks, and for port 0, between ports. Clients may use any name of the host.
     *
     * @param local a resolved address
     */
    public Transport transportAt(InetSocketAddress local) {
        return commonTransport(local.getAddress().isAnyLocalAddress() ? null : local, local.getPort());
    }

    /**
     * Returns the transport for an address with an unknown port: the transport for all ports, or
     * {@link Transport#EITHER} if ports differ.
     */
    public Transport transportTo(InetAddress address) {
        return commonTransport(new InetSocketAddress(address, 0), 0);
    }

    /**
     * Returns the transport for a listener at the wildcard address with an unknown port: the transport for all networks
     * and ports, or {@link Transport#EITHER} if they differ.
     */
    public Transport transportToAll() {
        return commonTransport(null, 0);
    }

    /** Returns the transport that all applicable rules have in common; null means any address, and 0 any port. */
    private Transport commonTransport(@Nullable InetSocketAddress local, int port) {
        Transport common = null;
        for (Rule rule : rules) {
            if (rule.mayApplyAt(local, port)) {
                if (common != null && common != rule.transport()) {
                    return Transport.EITHER;
                }
                common = rule.transport();
                if (rule.appliesAt(local, port)) {
                    return common;
                }
            }
        }
        return common == null || common == Transport.RDMA ? Transport.RDMA : Transport.EITHER;
    }

    /** Returns whether the other object has the same rules in the same order. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AddressRules that && rules.equals(that.rules);
    }

    @Override
    public int hashCode() {
        return rules.hashCode();
    }

    @Override
    public String toString() {
        return "address rules " + rules;
    }
}
