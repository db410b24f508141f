package io.rdma4j.tools.command;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import java.net.InetAddress;
import java.net.ProtocolFamily;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Resolves host names and addresses like {@code getaddrinfo}. */
public final class HostAddresses {
    private HostAddresses() {}

    /** Thrown if a name cannot be resolved. */
    public static final class LookupException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int code;

        LookupException(AddressLookupException cause) {
            super(cause.reason().text(), cause);
            this.code = cause.code();
        }

        /** Returns the negative error code of {@code getaddrinfo}. */
        public int code() {
            return code;
        }
    }

    /**
     * Returns the first address of a host.
     *
     * @param host a name or an IPv4 or IPv6 address; an IPv6 address may have a scope: {@code fe80::1%eth0}
     * @throws LookupException if the host has no address; the message is the text of {@code gai_strerror}
     */
    public static InetAddress first(String host) throws LookupException {
        return first(host, null);
    }

    /**
     * Returns the first address of a family or, if the host has none, its first address of any family.
     *
     * @param host as for {@link #first}; a literal address is returned as it is
     * @param family the preferred family
     * @throws LookupException if the host has no address; the message is the text of {@code gai_strerror}
     */
    public static InetAddress preferred(String host, ProtocolFamily family) throws LookupException {
        try {
            return first(host, family);
        } catch (LookupException other) {
            return first(host, null);
        }
    }

    private static InetAddress first(String host, @Nullable ProtocolFamily family) throws LookupException {
        try {
            return HostLookup.first("getaddrinfo", host, family, false);
        } catch (AddressLookupException e) {
            throw new LookupException(e);
        }
    }

    /** Returns all addresses of a host, at least one. Otherwise like {@link #first}. */
    public static List<InetAddress> all(String host) throws LookupException {
        try {
            return HostLookup.all("getaddrinfo", host, null, false);
        } catch (AddressLookupException e) {
            throw new LookupException(e);
        }
    }
}
