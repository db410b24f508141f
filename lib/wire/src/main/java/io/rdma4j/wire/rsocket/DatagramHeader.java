package io.rdma4j.wire.rsocket;

import io.rdma4j.value.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The header of a datagram between queue pairs: the address and port of the sending socket. It is big-endian, 8 bytes
 * for IPv4 and 24 for IPv6. Source: librdmacm's rsocket protocol.
 *
 * @param port the sender's port, 0 to 65535
 * @param flowInformation IPv6 flow information; 0 for IPv4
 * @param addressHigh upper half of the sender's address in GID form, IPv4 as {@code ::ffff:a.b.c.d}
 * @param addressLow lower half of the sender's address
 */
public record DatagramHeader(int port, int flowInformation, long addressHigh, long addressLow) {
    /** Queue key of all queue pairs of datagram sockets. C counterpart: {@code RDMA_UDP_QKEY}. */
    public static final int QUEUE_KEY = 0x0123_4567;

    /**
     * Maximum length of a datagram between queue pairs in bytes, with its header. C counterpart: {@code RS_SNDLOWAT}.
     */
    public static final int MAX_BYTES = 2048;

    /** Length of the header for IPv4 addresses, in bytes. */
    public static final int IPV4_LENGTH = 8;

    /** Length of the header for IPv6 addresses, in bytes. */
    public static final int IPV6_LENGTH = 24;

    private static final int IPV4 = 4;
    private static final int IPV6 = 6;
    private static final int O_LENGTH = 1;
    private static final int O_PORT = 2;
    private static final int O_ADDRESS = 4;
    private static final int O_IPV6_ADDRESS = 8;

    /**
     * Reads a header. The position does not change.
     *
     * @param at offset of the header
     * @param available number of bytes from there to the end of the datagram
     * @return the header, or null if it is too short or has an inconsistent version, length and address
     */
    public static @Nullable DatagramHeader parse(ByteBuffer in, int at, int available) {
        if (available < IPV4_LENGTH) {
            return null;
        }
        int version = in.get(at);
        int length = in.get(at + O_LENGTH);
        int port = Short.toUnsignedInt(in.getShort(at + O_PORT));
        if (version == IPV4 && length == IPV4_LENGTH) {
            return new DatagramHeader(port, 0, 0, Gid.ipv4Low(in.getInt(at + O_ADDRESS)));
        }
        if (version != IPV6 || length != IPV6_LENGTH || available < IPV6_LENGTH) {
            return null;
        }
        long high = in.getLong(at + O_IPV6_ADDRESS);
        long low = in.getLong(at + O_IPV6_ADDRESS + Long.BYTES);
        return Gid.isIpv4(high, low) ? null : new DatagramHeader(port, in.getInt(at + O_ADDRESS), high, low);
    }

    /** Writes the header. The position does not change. */
    public void write(ByteBuffer out, int at) {
        boolean isIpv4 = isIpv4();
        out.put(at, (byte) (isIpv4 ? IPV4 : IPV6));
        out.put(at + O_LENGTH, (byte) length());
        out.putShort(at + O_PORT, (short) port);
        if (isIpv4) {
            out.putInt(at + O_ADDRESS, (int) addressLow);
        } else {
            out.putInt(at + O_ADDRESS, flowInformation);
            out.putLong(at + O_IPV6_ADDRESS, addressHigh);
            out.putLong(at + O_IPV6_ADDRESS + Long.BYTES, addressLow);
        }
    }

    /** Returns whether the sender's address is IPv4. */
    public boolean isIpv4() {
        return Gid.isIpv4(addressHigh, addressLow);
    }

    /** Returns the length of this header in bytes. */
    public int length() {
        return isIpv4() ? IPV4_LENGTH : IPV6_LENGTH;
    }
}
