package io.rdma4j.tools;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Looks names and addresses up as {@code getaddrinfo} does. */
public final class HostAddresses {
    private static final int EAI_NONAME = -2;
    private static final int EAI_AGAIN = -3;
    private static final int EAI_FAIL = -4;
    private static final int EAI_NODATA = -5;

    private HostAddresses() {}

    /** A name that could not be resolved. */
    public static final class LookupException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int code;

        LookupException(int code, String message, UnknownHostException cause) {
            super(message, cause);
            this.code = code;
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
        if (host.isEmpty()) {
            throw new LookupException(EAI_NONAME, text(EAI_NONAME), new UnknownHostException("empty name"));
        }
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            int code = code(String.valueOf(e.getMessage()));
            throw new LookupException(code, text(code), e);
        }
    }

    /** Java hides the code, but ends its message with the text of it. */
    private static int code(String message) {
        for (int code : new int[] {EAI_AGAIN, EAI_FAIL, EAI_NODATA}) {
            if (message.endsWith(text(code))) {
                return code;
            }
        }
        return EAI_NONAME;
    }

    private static String text(int code) {
        return switch (code) {
            case EAI_AGAIN -> "Temporary failure in name resolution";
            case EAI_FAIL -> "Non-recoverable failure in name resolution";
            case EAI_NODATA -> "No address associated with hostname";
            default -> "Name or service not known";
        };
    }
}
