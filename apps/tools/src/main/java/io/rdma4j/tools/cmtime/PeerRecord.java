package io.rdma4j.tools.cmtime;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The record by which an instance announces itself to the others.
 *
 * <p>It has the layout of the C tool's {@code struct peer_info} in the memory of a Linux host: a socket address of 128
 * bytes, the role, and padding.
 *
 * <p>Instances of this implementation also announce their counts, in a part of the socket address that C sets to zero
 * and ignores. Instances with different counts would wait for each other indefinitely.
 *
 * @param address the address at which the instance listens, or null for a client
 * @param connections {@code -c}, or 0 if not announced
 * @param peers {@code -P}, or 0 if not announced
 * @param sockets {@code -S}, if announced
 */
record PeerRecord(@Nullable InetSocketAddress address, int connections, int peers, boolean sockets) {
    /** The size of a record in bytes. */
    static final int BYTES = 136;

    private static final short IPV4 = 2;
    private static final short IPV6 = 10;
    private static final int PORT_AT = 2;
    private static final int IPV4_AT = 4;
    private static final int IPV6_AT = 8;
    private static final int SCOPE_AT = 24;
    private static final int COUNTS_AT = 64;
    private static final int ROLE_AT = 128;

    /** "rdma4j" and a version, which marks the following counts as valid. */
    private static final long COUNTS_MARK = 0x7264_6d61_346a_0001L;

    boolean listens() {
        return address != null;
    }

    byte[] toBytes() {
        ByteBuffer record = ByteBuffer.allocate(BYTES).order(ByteOrder.nativeOrder());
        if (address != null) {
            byte[] bytes = address.getAddress().getAddress();
            boolean ipv6 = bytes.length > Integer.BYTES;
            record.putShort(0, ipv6 ? IPV6 : IPV4);
            record.put(PORT_AT, (byte) (address.getPort() >> Byte.SIZE));
            record.put(PORT_AT + 1, (byte) address.getPort());
            record.put(ipv6 ? IPV6_AT : IPV4_AT, bytes);
            if (address.getAddress() instanceof Inet6Address scoped) {
                record.putInt(SCOPE_AT, scoped.getScopeId());
            }
        }
        record.putLong(COUNTS_AT, COUNTS_MARK);
        record.putInt(COUNTS_AT + 8, connections);
        record.putInt(COUNTS_AT + 12, peers);
        record.putInt(COUNTS_AT + 16, sockets ? 1 : 0);
        record.putInt(ROLE_AT, listens() ? 1 : 0);
        return record.array();
    }

    /** Parses a record. Returns empty if the bytes are not a record. */
    static Optional<PeerRecord> parse(byte[] bytes) {
        ByteBuffer record = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        boolean hasCounts = record.getLong(COUNTS_AT) == COUNTS_MARK;
        InetSocketAddress address = null;
        int role = record.getInt(ROLE_AT);
        short family = record.getShort(0);
        if (role == 1 && (family == IPV4 || family == IPV6)) {
            address = address(record, family == IPV6);
        } else if (role != 0) {
            return Optional.empty();
        }
        return Optional.of(new PeerRecord(
                address,
                hasCounts ? record.getInt(COUNTS_AT + 8) : 0,
                hasCounts ? record.getInt(COUNTS_AT + 12) : 0,
                hasCounts && record.getInt(COUNTS_AT + 16) != 0));
    }

    private static InetSocketAddress address(ByteBuffer record, boolean ipv6) {
        byte[] bytes = new byte[ipv6 ? 16 : 4];
        record.get(ipv6 ? IPV6_AT : IPV4_AT, bytes);
        int port = (record.get(PORT_AT) & 0xff) << Byte.SIZE | record.get(PORT_AT + 1) & 0xff;
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException("an address has 4 or 16 bytes", impossible);
        }
    }

    /** Returns why two instances cannot work together, judged by their counts, or empty if they can. */
    Optional<String> mismatch(PeerRecord other, String where) {
        if (other.peers == 0) {
            return Optional.empty();
        }
        String here = "this instance was started with ";
        String there = " and the one at " + where + " with ";
        if (other.connections != connections) {
            return Optional.of(
                    here + "-c " + connections + there + "-c " + other.connections + "; start all with the same -c");
        }
        if (other.peers != peers) {
            return Optional.of(here + "-P " + peers + there + "-P " + other.peers + "; start all with the same -P");
        }
        if (other.sockets != sockets) {
            return Optional.of(here + (sockets ? "-S" : "no -S") + there + (other.sockets ? "it" : "none")
                    + "; start all with -S, or none");
        }
        return Optional.empty();
    }
}
