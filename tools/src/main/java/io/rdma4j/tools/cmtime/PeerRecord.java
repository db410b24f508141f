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
 * What an instance tells the others: where it listens. Laid out as the C tool's {@code struct peer_info} in the memory of a
 * Linux host: a socket address of 128 bytes, the role, and padding.
 *
 * <p>In a part of the socket address that C leaves zero and does not look at, ours also tell with which counts they were
 * started: instances that were started with others would wait for each other for ever.
 *
 * @param address where it listens, or null for a client
 * @param connections {@code -c}, or 0 if not told
 * @param peers {@code -P}, or 0 if not told
 * @param sockets {@code -S}, if told
 */
record PeerRecord(@Nullable InetSocketAddress address, int connections, int peers, boolean sockets) {
    /** Bytes of a record. */
    static final int BYTES = 136;

    private static final short IPV4 = 2;
    private static final short IPV6 = 10;
    private static final int PORT_AT = 2;
    private static final int IPV4_AT = 4;
    private static final int IPV6_AT = 8;
    private static final int SCOPE_AT = 24;
    private static final int TOLD_AT = 64;
    private static final int ROLE_AT = 128;

    /** "rdma4j" and a version, to tell what follows from what happens to be there. */
    private static final long TOLD = 0x7264_6d61_346a_0001L;

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
        record.putLong(TOLD_AT, TOLD);
        record.putInt(TOLD_AT + 8, connections);
        record.putInt(TOLD_AT + 12, peers);
        record.putInt(TOLD_AT + 16, sockets ? 1 : 0);
        record.putInt(ROLE_AT, listens() ? 1 : 0);
        return record.array();
    }

    /** Reads a record; nothing if it is none. */
    static Optional<PeerRecord> parse(byte[] bytes) {
        ByteBuffer record = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        boolean told = record.getLong(TOLD_AT) == TOLD;
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
                told ? record.getInt(TOLD_AT + 8) : 0,
                told ? record.getInt(TOLD_AT + 12) : 0,
                told && record.getInt(TOLD_AT + 16) != 0));
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

    /** Why two instances cannot work together, by the counts that they were started with; nothing if they can. */
    Optional<String> quarrel(PeerRecord other, String where) {
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
