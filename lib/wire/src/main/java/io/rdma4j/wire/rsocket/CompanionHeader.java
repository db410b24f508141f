package io.rdma4j.wire.rsocket;

import io.rdma4j.value.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The header of a message on the UDP socket that accompanies a datagram RDMA socket. It is big-endian, 16 bytes for
 * IPv4 and 28 for IPv6. Each side learns the other's queue pair number from it. Source: librdmacm's rsocket protocol.
 *
 * @param operation {@link #DATA} or {@link #CONTROL}
 * @param queuePairNumber number of the sender's queue pair, 24 bits
 * @param addressHigh upper half of the sender's address in GID form, IPv4 as {@code ::ffff:a.b.c.d}
 * @param addressLow lower half of the sender's address
 */
public record CompanionHeader(int operation, int queuePairNumber, long addressHigh, long addressLow) {
    /**
     * A datagram follows, sent to a receiver whose queue pair is unknown. The receiver replies with a control message.
     */
    public static final int DATA = 0;

    /** A control message: the reply to a data message. Nothing follows. */
    public static final int CONTROL = 7;

    /** Length of the header for IPv4 addresses, in bytes. */
    public static final int IPV4_LENGTH = 16;

    /** Length of the header for IPv6 addresses, in bytes. */
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
     * Reads the header and advances the position.
     *
     * @return the header, or null if it is too short, has another tag, an unknown operation, or an inconsistent
     *     version, length and address; then the position does not change
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
        long low = isIpv4 ? Gid.ipv4Low(in.getInt(at + O_ADDRESS)) : in.getLong(at + O_ADDRESS + Long.BYTES);
        if (!isIpv4 && Gid.isIpv4(high, low)) {
            return null;
        }
        in.position(at + length);
        return new CompanionHeader(operation, in.getInt(at + O_NUMBER) & NUMBER, high, low);
    }

    /** Writes the header at the position and advances the position. */
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

    /** Returns whether the sender's address is IPv4. */
    public boolean isIpv4() {
        return Gid.isIpv4(addressHigh, addressLow);
    }

    /** Returns the length of this header in bytes. */
    public int length() {
        return isIpv4() ? IPV4_LENGTH : IPV6_LENGTH;
    }
}
