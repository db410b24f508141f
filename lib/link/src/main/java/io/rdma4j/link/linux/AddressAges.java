package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The order in which a network interface got its addresses. Java's list, and the file that it reads, have the IPv6 addresses in
 * the order of a hash table of the kernel, so this class requests the age of each address (rtnetlink(7), {@code RTM_GETADDR}).
 */
public final class AddressAges {
    /** Size of {@code struct nlmsghdr}, and the offsets of its type and flags. */
    private static final int HEADER_BYTES = 16;

    private static final int HEADER_TYPE = 4;
    private static final int HEADER_FLAGS = 6;

    /** Size of {@code struct ifaddrmsg}, and the offset of the interface index. */
    private static final int BODY_BYTES = 8;

    private static final int BODY_INDEX = 4;

    private static final short NLMSG_ERROR = 2;
    private static final short NLMSG_DONE = 3;
    private static final short RTM_NEWADDR = 20;
    private static final short RTM_GETADDR = 22;

    /** {@code NLM_F_REQUEST} and {@code NLM_F_DUMP}. */
    private static final short REQUEST_LIST = 0x301;

    /** Size of {@code struct rtattr}, which precedes each attribute. */
    private static final int ATTRIBUTE_BYTES = 4;

    private static final short IFA_ADDRESS = 1;
    private static final short IFA_LOCAL = 2;
    private static final short IFA_CACHEINFO = 6;

    /** Offset in {@code struct ifa_cacheinfo} of the time at which the address was added, in hundredths of a second. */
    private static final int CACHEINFO_CREATED = 8;

    /** The maximum size of the parts in which the kernel sends a list. */
    private static final int BUFFER_BYTES = 32 << 10;

    private static final int ALIGNMENT = 4;

    private record Aged(InetAddress address, int createdCentis) {}

    private final int index;
    private final MemorySegment errno = Posix.newErrno();
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES, ALIGNMENT);
    private final List<Aged> addresses = new ArrayList<>();

    private AddressAges(int index) {
        this.index = index;
    }

    /**
     * Returns the addresses of one family, the oldest first. Addresses of the same age are in the order in which the kernel has
     * added them to its list: IPv4 addresses are appended to it, IPv6 addresses are prepended.
     *
     * @param index the index of the network interface
     * @param isIpv4 true for IPv4, false for IPv6
     * @throws IOException if the system does not answer
     */
    public static List<InetAddress> oldestFirst(int index, boolean isIpv4) throws IOException {
        AddressAges ages = new AddressAges(index);
        ages.read(isIpv4 ? Posix.AF_INET : Posix.AF_INET6);
        List<Aged> sorted = isIpv4 ? ages.addresses : ages.addresses.reversed();
        return sorted.stream()
                .sorted(Comparator.comparingLong(each -> Integer.toUnsignedLong(each.createdCentis)))
                .map(Aged::address)
                .toList();
    }

    private void read(int family) throws IOException {
        int socket = Posix.socket(errno, Posix.AF_NETLINK, Posix.SOCK_DGRAM, Posix.NETLINK_ROUTE);
        if (socket < 0) {
            throw failure(socket);
        }
        try {
            buffer.set(JAVA_INT, 0, HEADER_BYTES + BODY_BYTES);
            buffer.set(JAVA_SHORT, HEADER_TYPE, RTM_GETADDR);
            buffer.set(JAVA_SHORT, HEADER_FLAGS, REQUEST_LIST);
            buffer.set(JAVA_BYTE, HEADER_BYTES, (byte) family);
            int bytes = Posix.send(errno, socket, buffer.address(), HEADER_BYTES + BODY_BYTES);
            do {
                bytes = bytes < 0 ? bytes : Posix.recv(errno, socket, buffer.address(), BUFFER_BYTES);
                if (bytes <= 0) {
                    throw failure(bytes);
                }
            } while (readMessages(bytes));
        } finally {
            Reference.reachabilityFence(buffer);
            Posix.close(socket);
        }
    }

    private static IOException failure(int result) {
        return new IOException("list the addresses of a network interface: " + LinuxErrno.describe(-result));
    }

    /** Reads the messages of a datagram. Returns false after the last message of the list. */
    private boolean readMessages(int bytes) throws IOException {
        int at = 0;
        while (at + HEADER_BYTES <= bytes) {
            int length = buffer.get(JAVA_INT, at);
            short type = buffer.get(JAVA_SHORT, at + HEADER_TYPE);
            if (type == NLMSG_DONE) {
                return false;
            }
            if (type == NLMSG_ERROR || length < HEADER_BYTES || at + length > bytes) {
                throw new IOException("the system refuses to list the addresses of a network interface");
            }
            if (type == RTM_NEWADDR && buffer.get(JAVA_INT, at + HEADER_BYTES + BODY_INDEX) == index) {
                addresses.add(readAddress(at + HEADER_BYTES + BODY_BYTES, at + length));
            }
            at += aligned(length);
        }
        return true;
    }

    private Aged readAddress(int from, int end) throws IOException {
        byte[] address = {};
        boolean isLocal = false;
        int created = 0;
        int at = from;
        while (at + ATTRIBUTE_BYTES <= end) {
            int length = Short.toUnsignedInt(buffer.get(JAVA_SHORT, at));
            short type = buffer.get(JAVA_SHORT, at + 2);
            MemorySegment value = buffer.asSlice(at + ATTRIBUTE_BYTES, Math.max(0, length - ATTRIBUTE_BYTES));
            // With a peer, IFA_ADDRESS is the address of the peer.
            if (type == IFA_LOCAL || type == IFA_ADDRESS && !isLocal) {
                address = value.toArray(JAVA_BYTE);
                isLocal = type == IFA_LOCAL;
            } else if (type == IFA_CACHEINFO) {
                created = value.get(JAVA_INT, CACHEINFO_CREATED);
            }
            at += Math.max(ATTRIBUTE_BYTES, aligned(length));
        }
        return new Aged(InetAddress.getByAddress(address), created);
    }

    private static int aligned(int bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
