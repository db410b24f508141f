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

/** Looks names and addresses up as {@code getaddrinfo} does, of whose results librdmacm takes the first. */
public final class HostLookup {
    private HostLookup() {}

    /**
     * The first address of a host.
     *
     * @param operation the C name of the call that wants to know, for the message
     * @param host name, IPv4 or IPv6 address, the latter with a scope if it has one: {@code fe80::1%eth0}; what is an address
     *     is what {@code getaddrinfo} of glibc takes for one
     * @param family the family that the address must have, or null for any
     * @param numeric whether {@code host} must be an address: no resolver is asked
     * @throws AddressLookupException if there is none
     */
    public static InetAddress first(String operation, String host, @Nullable ProtocolFamily family, boolean numeric) {
        return all(operation, host, family, numeric).getFirst();
    }

    /**
     * All addresses of a host, one or more, in the order in which they are to be tried; otherwise as {@link #first}.
     *
     * @throws AddressLookupException if there is none
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
        List<InetAddress> wanted = Arrays.stream(found)
                .filter(address -> family == null || family.equals(familyOf(address)))
                .toList();
        if (wanted.isEmpty()) {
            throw failure(operation, Reason.NO_ADDRESS, host);
        }
        return wanted;
    }

    /** Whether a resolver may be asked. Java would take some for addresses that are none in C, or for the own host. */
    private static boolean isName(String host) {
        return !host.isBlank() && host.chars().noneMatch(c -> c == ':' || c == '[' || c == '%' || c == ' ');
    }

    /** The family of an address. */
    public static StandardProtocolFamily familyOf(InetAddress address) {
        return address instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }

    /**
     * An address as inet_aton and inet_pton read it: of IPv4 one to four numbers, decimal, octal or hexadecimal; of IPv6 no
     * brackets, and the name of an interface behind link-local addresses only.
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

    /** Java hides the code, but ends its message with the text of it. */
    private static Reason reasonOf(String message) {
        for (Reason reason : Reason.values()) {
            if (message.endsWith(reason.text())) {
                return reason;
            }
        }
        return Reason.NAME_UNKNOWN;
    }
}
