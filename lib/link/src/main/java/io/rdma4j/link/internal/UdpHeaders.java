package io.rdma4j.link.internal;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.IpHeaders;
import java.nio.ByteBuffer;

/**
 * Writes the IP and UDP headers of a frame (RFC 791, RFC 8200, RFC 768). Fields that are not known have their most
 * likely value.
 */
public final class UdpHeaders {
    private static final int UDP_BYTES = 8;
    private static final int PROTOCOL_UDP = 17;

    /** Size of an IPv4 and a UDP header, in bytes. */
    public static final int IPV4_BYTES = IpHeaders.IPV4_BYTES + UDP_BYTES;

    /** Size of an IPv6 and a UDP header, in bytes. */
    public static final int IPV6_BYTES = IpHeaders.IPV6_BYTES + UDP_BYTES;

    private UdpHeaders() {}

    /** Writes IPv4 and UDP headers at the position of {@code target}. */
    public static void writeIpv4(ByteBuffer target, Frame frame, int identification) {
        IpHeaders.writeIpv4(target, frame, identification);
        putUdp(target, frame, 0);
    }

    /** Writes IPv6 and UDP headers at the position of {@code target}. */
    public static void writeIpv6(ByteBuffer target, Frame frame) {
        IpHeaders.writeIpv6(target, frame);
        int checksum = ~IpHeaders.fold(ipv6Sum(frame, UDP_BYTES + frame.length)) & 0xffff;
        // 0 would mean that there is no checksum; all ones is the same number in one's complement.
        putUdp(target, frame, checksum == 0 ? 0xffff : checksum);
    }

    private static void putUdp(ByteBuffer target, Frame frame, int checksum) {
        target.putShort((short) frame.sourcePort).putShort((short) frame.destinationPort);
        target.putShort((short) (UDP_BYTES + frame.length)).putShort((short) checksum);
    }

    /** Returns the sum of pseudo header, UDP header and payload. */
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
}
