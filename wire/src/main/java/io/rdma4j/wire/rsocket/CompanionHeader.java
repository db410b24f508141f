package io.rdma4j.wire.rsocket;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What stands before a message on the UDP socket that accompanies a datagram RDMA socket, big-endian: 16 bytes for IPv4, 28
 * for IPv6. By it the two sides learn each other's queue pair. Source: librdmacm's rsocket protocol.
 *
 * @param operation {@link #DATA} or {@link #CONTROL}
 * @param queuePairNumber the sender's queue pair, 24 bits
 * @param addressHigh upper half of the sender's own address, in the form of a GID: IPv4 as {@code ::ffff:a.b.c.d}
 * @param addressLow lower half of it
 */
public record CompanionHeader(int operation, int queuePairNumber, long addressHigh, long addressLow) {
    /** A datagram follows, because the sender does not know the receiver's queue pair; it is answered by a control message. */
    public static final int DATA = 0;

    /** Nothing follows: this answers the other. */
    public static final int CONTROL = 7;

    /** Bytes of the header between IPv4 addresses. */
    public static final int IPV4_LENGTH = 16;

    /** Bytes of the header between IPv6 addresses. */
    public static final int IPV6_LENGTH = 28;

    private static final int TAG = 0x5555_5555;
    private static final int IPV4 = 4;
    private static final int IPV6 = 6;
    private static final int NUMBER = 0xff_ffff;
    private static final int O_VERSION = 4;
    private static final int O_OPERATION = 5;
    private static final int O_LENGTH = 6;
    private static final int O_NUMBER = 8;
    private static final int O_ADDRESS = 12;

    /**
     * Reads the header and moves the position behind it.
     *
     * @return null, with the position where it was, if this is none: too short, another tag, an unknown operation, or a
     *     version, length and address that do not fit each other
     */
    public static @Nullable CompanionHeader parse(ByteBuffer in) {
        int at = in.position();
        if (in.remaining() < IPV4_LENGTH || in.getInt(at) != TAG) {
            return null;
        }
        int operation = in.get(at + O_OPERATION);
        boolean isIpv4 = in.get(at + O_VERSION) == IPV4;
        int length = isIpv4 ? IPV4_LENGTH : IPV6_LENGTH;
        if (operation != DATA && operation != CONTROL
                || !isIpv4 && in.get(at + O_VERSION) != IPV6
                || in.get(at + O_LENGTH) != length
                || in.remaining() < length) {
            return null;
        }
        long high = isIpv4 ? 0 : in.getLong(at + O_ADDRESS);
        long low = isIpv4 ? DatagramHeader.mapped(in.getInt(at + O_ADDRESS)) : in.getLong(at + O_ADDRESS + Long.BYTES);
        if (!isIpv4 && DatagramHeader.isMapped(high, low)) {
            return null;
        }
        in.position(at + length);
        return new CompanionHeader(operation, in.getInt(at + O_NUMBER) & NUMBER, high, low);
    }

    /** Writes the header at the position, and moves that behind it. */
    public void write(ByteBuffer out) {
        boolean isIpv4 = isIpv4();
        out.putInt(TAG).put((byte) (isIpv4 ? IPV4 : IPV6)).put((byte) operation);
        out.put((byte) length()).put((byte) 0).putInt(queuePairNumber & NUMBER);
        if (isIpv4) {
            out.putInt((int) addressLow);
        } else {
            out.putLong(addressHigh).putLong(addressLow);
        }
    }

    /** Whether it is one of IPv4. */
    public boolean isIpv4() {
        return DatagramHeader.isMapped(addressHigh, addressLow);
    }

    /** Bytes of this header. */
    public int length() {
        return isIpv4() ? IPV4_LENGTH : IPV6_LENGTH;
    }
}
