package io.rdma4j.wire;

import java.nio.ByteBuffer;

/**
 * Writes the IP header of a frame as it is, or may have been, on the wire (RFC 791, RFC 8200). Buffers are in network
 * order.
 */
public final class IpHeaders {
    /** Length of an IPv4 header without options, in bytes. */
    public static final int IPV4_BYTES = 20;

    /** Length of an IPv6 header in bytes. */
    public static final int IPV6_BYTES = 40;

    private static final int UDP_BYTES = 8;
    private static final int PROTOCOL_UDP = 17;
    private static final int DONT_FRAGMENT = 0x4000;

    private IpHeaders() {}

    /**
     * Writes the IPv4 header of a frame at the position of {@code target} and advances the position.
     *
     * @param identification the header's identification, 16 bits
     */
    public static void writeIpv4(ByteBuffer target, Frame frame, int identification) {
        int start = target.position();
        int totalBytes = IPV4_BYTES + UDP_BYTES + frame.length;
        target.put((byte) 0x45).put((byte) frame.trafficClass).putShort((short) totalBytes);
        target.putShort((short) identification).putShort((short) DONT_FRAGMENT);
        target.put((byte) frame.hopLimit).put((byte) PROTOCOL_UDP).putShort((short) 0);
        target.putInt((int) frame.sourceLow).putInt((int) frame.destinationLow);
        int sum = 0;
        for (int i = 0; i < IPV4_BYTES; i += 2) {
            sum += target.getShort(start + i) & 0xffff;
        }
        target.putShort(start + 10, (short) ~fold(sum));
    }

    /**
     * Writes the IPv6 header of a frame at the position of {@code target}, and advances the position.
     */
    public static void writeIpv6(ByteBuffer target, Frame frame) {
        target.putInt(0x6000_0000 | (frame.trafficClass & 0xff) << 20 | frame.flowLabel & FlowLabel.MASK);
        target.putShort((short) (UDP_BYTES + frame.length));
        target.put((byte) PROTOCOL_UDP).put((byte) frame.hopLimit);
        target.putLong(frame.sourceHigh).putLong(frame.sourceLow);
        target.putLong(frame.destinationHigh).putLong(frame.destinationLow);
    }

    /** Folds a sum of 16-bit words into 16 bits, as the Internet checksum does (RFC 1071). */
    public static int fold(long sum) {
        long folded = sum;
        while (folded > 0xffff) {
            folded = (folded >>> 16) + (folded & 0xffff);
        }
        return (int) folded;
    }
}
