package io.rdma4j.tools;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.HostLookup;
import java.net.InetAddress;
import java.net.ProtocolFamily;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Looks names and addresses up as {@code getaddrinfo} does. */
public final class HostAddresses {
    private HostAddresses() {}

    /** A name that could not be resolved. */
    public static final class LookupException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int code;

        LookupException(AddressLookupException cause) {
            super(cause.reason().text(), cause);
            this.code = cause.code();
        }

        /** The negative code of {@code getaddrinfo}. */
        public int code() {
            return code;
        }
    }

    /**
     * The first address of a host.
     *
     * @param host name, IPv4 or IPv6 address, the latter with a scope if it has one: {@code fe80::1%eth0}
     * @throws LookupException if there is none; the message is that of {@code gai_strerror}
     */
    public static InetAddress first(String host) throws LookupException {
        return first(host, null);
    }

    /**
     * The first address of a family; of a host that has none of it, the first of all.
     *
     * @param host as for {@link #first}; an address stands for itself
     * @param family the family
     * @throws LookupException if there is none; the message is that of {@code gai_strerror}
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

    /** All addresses of a host, one or more; otherwise as {@link #first}. */
    public static List<InetAddress> all(String host) throws LookupException {
        try {
            return HostLookup.all("getaddrinfo", host, null, false);
        } catch (AddressLookupException e) {
            throw new LookupException(e);
        }
    }
}
