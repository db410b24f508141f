package io.rdma4j.fuzz;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Packets sent by Linux hosts: the captures of the module {@code wire}, which are Ethernet frames in the classic pcap
 * format.
 */
public final class Captures {
    private static final List<String> NAMES = List.of(
            "all",
            "badlen",
            "cmfuzz",
            "dead",
            "inject",
            "mckey",
            "mckey_sendonly",
            "noans",
            "nolisten",
            "rcpp",
            "rej",
            "riostream",
            "rnr",
            "rping",
            "rping6",
            "rstream",
            "uc",
            "ucmatose",
            "ud",
            "udaddy");
    private static final int FILE_HEADER_BYTES = 24;
    private static final int RECORD_HEADER_BYTES = 16;
    private static final int ETHERNET_BYTES = 14;

    private Captures() {}

    /** Returns all RoCEv2 packets. */
    public static Stream<Frame> frames() {
        return NAMES.stream().flatMap(name -> frames(name).stream());
    }

    /** Returns the RoCEv2 packets of one capture. */
    static List<Frame> frames(String name) {
        byte[] file;
        try (InputStream in = Captures.class.getResourceAsStream("/captures/" + name + ".pcap")) {
            file = Objects.requireNonNull(in, name).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ByteBuffer lengths = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        List<Frame> frames = new ArrayList<>();
        for (int offset = FILE_HEADER_BYTES; offset < file.length; ) {
            int length = lengths.getInt(offset + 8);
            int ethernet = offset + RECORD_HEADER_BYTES;
            offset = ethernet + length;
            Frame frame = frame(ByteBuffer.wrap(file, ethernet + ETHERNET_BYTES, length - ETHERNET_BYTES)
                    .slice());
            if (frame != null) {
                frames.add(frame);
            }
        }
        return frames;
    }

    private static @Nullable Frame frame(ByteBuffer ip) {
        boolean isIpv4 = ip.get(0) >>> 4 == 4;
        int udp = isIpv4 ? 20 : 40;
        if (ip.limit() < udp + 8
                || ip.get(isIpv4 ? 9 : 6) != 17
                || Short.toUnsignedInt(ip.getShort(udp + 2)) != Frame.UDP_PORT) {
            return null;
        }
        Frame frame = new Frame();
        if (isIpv4) {
            frame.trafficClass = Byte.toUnsignedInt(ip.get(1));
            frame.identification = Short.toUnsignedInt(ip.getShort(4));
            frame.sourceLow = Gid.ipv4Low(ip.getInt(12));
            frame.destinationLow = Gid.ipv4Low(ip.getInt(16));
        } else {
            frame.sourceHigh = ip.getLong(8);
            frame.sourceLow = ip.getLong(16);
            frame.destinationHigh = ip.getLong(24);
            frame.destinationLow = ip.getLong(32);
        }
        frame.sourcePort = Short.toUnsignedInt(ip.getShort(udp));
        int length = Math.min(Short.toUnsignedInt(ip.getShort(udp + 4)) - 8, ip.limit() - udp - 8);
        byte[] payload = new byte[Math.max(0, length)];
        ip.get(udp + 8, payload);
        fill(frame, payload);
        return frame;
    }

    /** Sets the contents of a frame to exactly these bytes, so that reading beyond them fails. */
    static void fill(Frame frame, byte[] payload) {
        frame.segment = MemorySegment.ofArray(payload);
        frame.buffer = ByteBuffer.wrap(payload);
        frame.offset = 0;
        frame.length = payload.length;
    }

    /** Returns the UDP payload of a frame. */
    public static byte[] payload(Frame frame) {
        byte[] payload = new byte[frame.length];
        frame.buffer.get(frame.offset, payload);
        return payload;
    }
}
