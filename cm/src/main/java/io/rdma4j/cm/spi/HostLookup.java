package io.rdma4j.cm.spi;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.AddressLookupException.Reason;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Looks names and addresses up as {@code getaddrinfo} does, of whose results librdmacm takes the first. */
public final class HostLookup {
    private HostLookup() {}

    /**
     * The first address of a host.
     *
     * @param operation the C name of the call that wants to know, for the message
     * @param host name, IPv4 or IPv6 address, the latter with a scope if it has one: {@code fe80::1%eth0}
     * @param family the family that the address must have, or null for any
     * @param numeric whether {@code host} must be an address: no resolver is asked
     * @throws AddressLookupException if there is none
     */
    public static InetAddress first(String operation, String host, @Nullable ProtocolFamily family, boolean numeric) {
        InetAddress literal = literal(host);
        if (literal != null) {
            if (family != null && !family.equals(familyOf(literal))) {
                throw failure(operation, Reason.WRONG_FAMILY, host);
            }
            return literal;
        }
        if (numeric || host.isEmpty()) {
            throw failure(operation, Reason.NAME_UNKNOWN, host);
        }
        InetAddress[] all;
        try {
            all = InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw failure(operation, reasonOf(String.valueOf(e.getMessage())), host);
        }
        for (InetAddress address : all) {
            if (family == null || family.equals(familyOf(address))) {
                return address;
            }
        }
        throw failure(operation, Reason.NO_ADDRESS, host);
    }

    /** The family of an address. */
    public static StandardProtocolFamily familyOf(InetAddress address) {
        return address instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }

    private static @Nullable InetAddress literal(String host) {
        try {
            return InetAddress.ofLiteral(host);
        } catch (IllegalArgumentException name) {
            return null;
        }
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
