package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdma4j.link.SendBurst;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A UDP socket that frames are sent from, and its current IP header options. An option is set by a system call only if a burst
 * needs another value than the previous one.
 */
final class SendSocket {
    /** Size of {@code struct in6_flowlabel_req}: address, label, action, share, flags, three times, padding. */
    private static final int LEASE_BYTES = 32;

    private static final int LEASE_LABEL = 16;
    private static final int LEASE_ACTION = 20;
    private static final int LEASE_SHARE = 21;
    private static final int LEASE_FLAGS = 22;
    private static final byte GET = 0;
    private static final byte SHARE_WITH_ANY = (byte) 255;
    private static final short CREATE = 1;
    private static final ValueLayout.OfInt INT_BE = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG_BE = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    final Socket socket;
    private final boolean ipv4;
    private int trafficClass;
    private int hopLimit = -1;

    /** The label that was requested last, and the one that the system has granted: the same, or 0. */
    private int wantedLabel;

    private int label;

    SendSocket(Socket socket, boolean ipv4) {
        this.socket = socket;
        this.ipv4 = ipv4;
    }

    /**
     * Prepares the socket for the IP headers of a burst. A frame is sent even if the system refuses a value, which affects only its
     * priority and path.
     *
     * @return the IPv6 flow label to send to, 0 for none
     */
    int prepare(SendBurst burst) {
        if (burst.trafficClass() != trafficClass) {
            trafficClass = burst.trafficClass();
            boolean _ = set(Posix.IP_TOS, Posix.IPV6_TCLASS, trafficClass & 0xff);
        }
        if (burst.hopLimit() != hopLimit) {
            hopLimit = burst.hopLimit();
            boolean _ = set(Posix.IP_TTL, Posix.IPV6_UNICAST_HOPS, hopLimit);
        }
        if (burst.flowLabel() != wantedLabel) {
            wantedLabel = burst.flowLabel();
            label = !ipv4 && wantedLabel != 0 && lease(burst) ? wantedLabel : 0;
        }
        return label;
    }

    private boolean set(int ipv4Option, int ipv6Option, int value) {
        return ipv4
                ? socket.option(Posix.IPPROTO_IP, ipv4Option, value)
                : socket.option(Posix.IPPROTO_IPV6, ipv6Option, value);
    }

    /** Leases a flow label, which a socket must have before it sends one (Linux's {@code IPV6_FLOWLABEL_MGR}). */
    private boolean lease(SendBurst burst) {
        MemorySegment request = Arena.ofAuto().allocate(LEASE_BYTES, 8);
        request.set(LONG_BE, 0, burst.destinationHigh());
        request.set(LONG_BE, 8, burst.destinationLow());
        request.set(INT_BE, LEASE_LABEL, wantedLabel);
        request.set(JAVA_BYTE, LEASE_ACTION, GET);
        request.set(JAVA_BYTE, LEASE_SHARE, SHARE_WITH_ANY);
        request.set(ValueLayout.JAVA_SHORT, LEASE_FLAGS, CREATE);
        return Posix.setsockopt(socket.errno, socket.fd, Posix.IPPROTO_IPV6, Posix.IPV6_FLOWLABEL_MGR, request) == 0
                && socket.option(Posix.IPPROTO_IPV6, Posix.IPV6_FLOWINFO_SEND, 1);
    }
}
