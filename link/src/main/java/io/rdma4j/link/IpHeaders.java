package io.rdma4j.link;

import io.rdma4j.wire.Frame;
import java.nio.ByteBuffer;

/** IP and UDP headers around a frame, as they were or may have been on the wire (RFC 791, RFC 8200, RFC 768). */
final class IpHeaders {
    private static final int UDP_BYTES = 8;
    private static final int PLAIN_IPV4_BYTES = 20;
    private static final int PROTOCOL_UDP = 17;
    private static final int DONT_FRAGMENT = 0x4000;

    /** Bytes of an IPv4 and a UDP header. */
    static final int IPV4_BYTES = PLAIN_IPV4_BYTES + UDP_BYTES;

    /** Bytes of an IPv6 and a UDP header. */
    static final int IPV6_BYTES = 40 + UDP_BYTES;

    private IpHeaders() {}

    /** Writes IPv4 and UDP headers at the position of {@code target}. */
    static void writeIpv4(ByteBuffer target, Frame frame, int identification) {
        int start = target.position();
        int udpBytes = UDP_BYTES + frame.length;
        target.put((byte) 0x45).put((byte) frame.trafficClass).putShort((short) (PLAIN_IPV4_BYTES + udpBytes));
        target.putShort((short) identification).putShort((short) DONT_FRAGMENT);
        target.put((byte) frame.hopLimit).put((byte) PROTOCOL_UDP).putShort((short) 0);
        target.putInt((int) frame.sourceLow).putInt((int) frame.destinationLow);
        int sum = 0;
        for (int i = 0; i < PLAIN_IPV4_BYTES; i += 2) {
            sum += target.getShort(start + i) & 0xffff;
        }
        target.putShort(start + 10, (short) ~fold(sum));
        putUdp(target, frame, 0);
    }

    /** Writes IPv6 and UDP headers at the position of {@code target}. */
    static void writeIpv6(ByteBuffer target, Frame frame) {
        int udpBytes = UDP_BYTES + frame.length;
        target.putInt(0x6000_0000 | (frame.trafficClass & 0xff) << 20).putShort((short) udpBytes);
        target.put((byte) PROTOCOL_UDP).put((byte) frame.hopLimit);
        target.putLong(frame.sourceHigh).putLong(frame.sourceLow);
        target.putLong(frame.destinationHigh).putLong(frame.destinationLow);
        int checksum = ~fold(ipv6Sum(frame, udpBytes)) & 0xffff;
        // 0 would say that there is no checksum; all ones is the same number.
        putUdp(target, frame, checksum == 0 ? 0xffff : checksum);
    }

    private static void putUdp(ByteBuffer target, Frame frame, int checksum) {
        target.putShort((short) frame.sourcePort).putShort((short) frame.destinationPort);
        target.putShort((short) (UDP_BYTES + frame.length)).putShort((short) checksum);
    }

    /** Sum of pseudo header, UDP header and payload. */
    private static long ipv6Sum(Frame frame, int udpBytes) {
        long sum = words(frame.sourceHigh)
                + words(frame.sourceLow)
                + words(frame.destinationHigh)
                + words(frame.destinationLow);
        sum += PROTOCOL_UDP + 2L * udpBytes + frame.sourcePort + frame.destinationPort;
        int end = frame.offset + frame.length;
        for (int i = frame.offset; i + 1 < end; i += 2) {
            sum += (frame.buffer.get(i) & 0xff) << 8 | frame.buffer.get(i + 1) & 0xff;
        }
        return (frame.length & 1) == 0 ? sum : sum + ((frame.buffer.get(end - 1) & 0xff) << 8);
    }

    private static long words(long half) {
        return (half >>> 48) + (half >>> 32 & 0xffff) + (half >>> 16 & 0xffff) + (half & 0xffff);
    }

    private static int fold(long sum) {
        long folded = sum;
        while (folded > 0xffff) {
            folded = (folded >>> 16) + (folded & 0xffff);
        }
        return (int) folded;
    }
}
