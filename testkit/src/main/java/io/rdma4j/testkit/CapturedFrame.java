package io.rdma4j.testkit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * A RoCEv2 frame of a {@link RoceCapture}: its addresses, and its bytes from the base transport header (BTH) to the ICRC.
 *
 * <p>Immutable and thread safe.
 */
public final class CapturedFrame {
    /** Length of the ICRC at the end of each frame, in bytes. */
    public static final int ICRC_BYTES = 4;

    static final int ROCE_PORT = 4791;
    private static final int SHORTEST_IP_PACKET = 28;

    private static final int BTH_BYTES = 12;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP_BYTES = 8;
    private static final int PROTOCOL_UDP = 17;
    private static final byte MASKED = (byte) 0xff;

    /** The IP packet. */
    private final byte[] packet;

    private final int udp;

    private CapturedFrame(byte[] packet, int udp) {
        this.packet = packet;
        this.udp = udp;
    }

    /** Returns whether an IP packet is a complete RoCEv2 frame. */
    static boolean isRoce(byte[] packet) {
        if (packet.length < SHORTEST_IP_PACKET) {
            return false;
        }
        int udp = udpOffset(packet);
        return packet.length >= udp + UDP_BYTES + BTH_BYTES + ICRC_BYTES
                && packet[isIpv4(packet) ? 9 : 6] == PROTOCOL_UDP
                && Short.toUnsignedInt(ByteBuffer.wrap(packet).getShort(udp + 2)) == ROCE_PORT;
    }

    /** Takes over an IP packet that {@link #isRoce} accepts. */
    static CapturedFrame of(byte[] packet) {
        return new CapturedFrame(packet, udpOffset(packet));
    }

    private static boolean isIpv4(byte[] packet) {
        return packet[0] >>> 4 == 4;
    }

    private static int udpOffset(byte[] packet) {
        return isIpv4(packet) ? IPV4_BYTES : IPV6_BYTES;
    }

    private int frameOffset() {
        return udp + UDP_BYTES;
    }

    /** Returns the sender's address and UDP port. */
    public InetSocketAddress source() {
        return endpoint(isIpv4(packet) ? 12 : 8, udp);
    }

    /** Returns the receiver's address and UDP port, which is 4791. */
    public InetSocketAddress destination() {
        return endpoint(isIpv4(packet) ? 16 : 24, udp + 2);
    }

    private InetSocketAddress endpoint(int address, int port) {
        byte[] bytes = Arrays.copyOfRange(packet, address, address + (isIpv4(packet) ? 4 : 16));
        try {
            return new InetSocketAddress(
                    InetAddress.getByAddress(bytes),
                    Short.toUnsignedInt(ByteBuffer.wrap(packet).getShort(port)));
        } catch (UnknownHostException impossible) {
            throw new AssertionError("an address of " + bytes.length + " bytes", impossible);
        }
    }

    /** Returns the opcode byte of the BTH (InfiniBand Architecture volume 1, 9.2.1). */
    public int opcode() {
        return Byte.toUnsignedInt(packet[frameOffset()]);
    }

    /** Returns the length from BTH to ICRC, in bytes. */
    public int length() {
        return packet.length - frameOffset();
    }

    /** Returns the bytes from BTH to ICRC, as a new read-only buffer. */
    public ByteBuffer bytes() {
        return ByteBuffer.wrap(packet, frameOffset(), length()).slice().asReadOnlyBuffer();
    }

    /**
     * Returns whether the ICRC is right.
     *
     * <p>Computes the ICRC by the definition in annex A17, without the code of the device, so that tests can check that code.
     */
    public boolean isIcrcValid() {
        byte[] masked = packet.clone();
        if (isIpv4(masked)) {
            Arrays.fill(masked, 1, 2, MASKED); // type of service
            Arrays.fill(masked, 8, 9, MASKED); // time to live
            Arrays.fill(masked, 10, 12, MASKED); // checksum
        } else {
            masked[0] |= 0xf; // traffic class and flow label
            Arrays.fill(masked, 1, 4, MASKED);
            Arrays.fill(masked, 7, 8, MASKED); // hop limit
        }
        Arrays.fill(masked, udp + 6, udp + 8, MASKED); // UDP checksum
        Arrays.fill(masked, frameOffset() + 4, frameOffset() + 5, MASKED); // FECN and BECN
        int end = packet.length - ICRC_BYTES;
        CRC32 crc = new CRC32();
        byte[] routeHeader = new byte[8];
        Arrays.fill(routeHeader, MASKED);
        crc.update(routeHeader);
        crc.update(masked, 0, end);
        return (int) crc.getValue()
                == ByteBuffer.wrap(packet).order(ByteOrder.LITTLE_ENDIAN).getInt(end);
    }
}
