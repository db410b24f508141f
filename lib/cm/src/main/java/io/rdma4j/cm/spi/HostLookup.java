package io.rdma4j.cm.spi;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.AddressLookupException.Reason;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Looks up names and addresses like {@code getaddrinfo}. librdmacm uses its first result. Thread safe. */
public final class HostLookup {
    private HostLookup() {}

    /**
     * Returns the first address of a host.
     *
     * @param operation the C name of the calling operation, for messages
     * @param host name, IPv4 address, or IPv6 address with an optional scope, such as {@code fe80::1%eth0}; addresses
     *     have the syntax that glibc's {@code getaddrinfo} accepts
     * @param family the required family of the address, or null for any
     * @param numeric true if {@code host} must be an address; the resolver is then not used
     * @throws AddressLookupException if the host has no address
     */
    public static InetAddress first(String operation, String host, @Nullable ProtocolFamily family, boolean numeric) {
        return all(operation, host, family, numeric).getFirst();
    }

    /**
     * Returns all addresses of a host, at least one, in the order in which to try them. {@link #first} describes the
     * parameters.
     *
     * @throws AddressLookupException if the host has no address
     */
    public static List<InetAddress> all(
            String operation, String host, @Nullable ProtocolFamily family, boolean numeric) {
        InetAddress literal = literal(host);
        if (literal != null) {
            if (family != null && !family.equals(familyOf(literal))) {
                throw failure(operation, Reason.WRONG_FAMILY, host);
            }
            return List.of(literal);
        }
        if (numeric || !isName(host)) {
            throw failure(operation, Reason.NAME_UNKNOWN, host);
        }
        InetAddress[] found;
        try {
            found = InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw failure(operation, reasonOf(String.valueOf(e.getMessage())), host);
        }
        List<InetAddress> matching = Arrays.stream(found)
                .filter(address -> family == null || family.equals(familyOf(address)))
                .toList();
        if (matching.isEmpty()) {
            throw failure(operation, Reason.NO_ADDRESS, host);
        }
        return matching;
    }

    /**
     * Returns whether the resolver may be used. Java would interpret some texts as addresses, or as this host, that C
     * does not accept.
     */
    private static boolean isName(String host) {
        return !host.isBlank() && host.chars().noneMatch(c -> c == ':' || c == '[' || c == '%' || c == ' ');
    }

    /** Returns the family of an address. */
    public static StandardProtocolFamily familyOf(InetAddress address) {
        return address instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }

    /**
     * Parses an address like inet_aton and inet_pton. IPv4 addresses are one to four decimal, octal or hexadecimal
     * numbers. IPv6 addresses have no brackets, and only link-local addresses may have an interface name.
     */
    private static @Nullable InetAddress literal(String host) {
        try {
            if (host.indexOf(':') < 0) {
                return Inet4Address.ofPosixLiteral(host);
            }
            InetAddress found = host.startsWith("[") ? null : InetAddress.ofLiteral(host);
            return found == null || hasWrongScope(host, found) ? null : found;
        } catch (IllegalArgumentException name) {
            return null;
        }
    }

    private static boolean hasWrongScope(String host, InetAddress address) {
        int scope = host.indexOf('%') + 1;
        return scope > 0
                && !address.isLinkLocalAddress()
                && !address.isMCLinkLocal()
                && !host.substring(scope).chars().allMatch(c -> c >= '0' && c <= '9');
    }

    private static AddressLookupException failure(String operation, Reason reason, String host) {
        return new AddressLookupException(
                operation, reason, "host '" + host + "'", "Check the name, or give an address");
    }

    /** Derives the code from the end of Java's message, since Java does not expose it. */
    private static Reason reasonOf(String message) {
        for (Reason reason : Reason.values()) {
            if (message.endsWith(reason.text())) {
                return reason;
            }
        }
        return Reason.NAME_UNKNOWN;
    }
}
