package io.rdma4j.wire;

import io.rdma4j.value.Gid;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the RoCEv2 frames of the captures under {@code src/test/resources/captures}. They are classic pcap files of
 * Ethernet traffic between two Linux hosts (rdma_rxe, rdma-core), described in the README of that folder.
 */
public final class Captures {
    private static final int FILE_HEADER = 24;
    private static final int RECORD_HEADER = 16;
    private static final int ETHERNET = 14;
    private static final int TYPE_IPV4 = 0x0800;
    private static final int TYPE_IPV6 = 0x86dd;
    private static final int UDP = 17;

    /** The names of all files, without extension. */
    public static final List<String> FILES = List.of(
            "all",
            "badlen",
            "cmfuzz",
            "dead",
            "inject",
            "loss",
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

    private Captures() {}

    /** A frame and its position: the number counts all packets of the file from 1, as in Wireshark. */
    public record Captured(String file, int number, Frame frame) {
        /** Returns the UDP payload, BTH to ICRC. */
        public byte[] bytes() {
            byte[] copy = new byte[frame.length];
            frame.buffer.get(frame.offset, copy);
            return copy;
        }

        @Override
        public String toString() {
            return file + " #" + number;
        }
    }

    /** Returns the RoCEv2 frames of one file, in order. */
    public static List<Captured> frames(String file) {
        ByteBuffer in = ByteBuffer.wrap(load(file)).order(ByteOrder.LITTLE_ENDIAN);
        if (in.getInt(0) != 0xa1b2c3d4 || in.getInt(20) != 1) {
            throw new IllegalStateException(file + ": not a little-endian Ethernet pcap file");
        }
        List<Captured> found = new ArrayList<>();
        int number = 0;
        for (int at = FILE_HEADER; at < in.limit(); ) {
            int captured = in.getInt(at + 8);
            number++;
            Frame frame = roce(in.array(), at + RECORD_HEADER);
            if (frame != null) {
                found.add(new Captured(file, number, frame));
            }
            at += RECORD_HEADER + captured;
        }
        return found;
    }

    /** Returns the frame with this number in the file. */
    public static Captured frame(String file, int number) {
        return frames(file).stream()
                .filter(f -> f.number() == number)
                .findFirst()
                .orElseThrow();
    }

    private static byte[] load(String file) {
        try (InputStream in = Captures.class.getResourceAsStream("/captures/" + file + ".pcap")) {
            if (in == null) {
                throw new IllegalArgumentException("no capture " + file);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(file, e);
        }
    }

    private static @Nullable Frame roce(byte[] file, int start) {
        ByteBuffer in = ByteBuffer.wrap(file);
        Frame frame = new Frame();
        int type = in.getShort(start + 12) & 0xffff;
        int ip = start + ETHERNET;
        int udp;
        if (type == TYPE_IPV4 && in.get(ip + 9) == UDP) {
            udp = ip + 20;
            frame.trafficClass = in.get(ip + 1) & 0xff;
            frame.identification = in.getShort(ip + 4) & 0xffff;
            frame.hopLimit = in.get(ip + 8) & 0xff;
            frame.sourceLow = Gid.ipv4Low(in.getInt(ip + 12));
            frame.destinationLow = Gid.ipv4Low(in.getInt(ip + 16));
        } else if (type == TYPE_IPV6 && in.get(ip + 6) == UDP) {
            udp = ip + 40;
            frame.trafficClass = in.getInt(ip) >>> 20 & 0xff;
            frame.hopLimit = in.get(ip + 7) & 0xff;
            frame.sourceHigh = in.getLong(ip + 8);
            frame.sourceLow = in.getLong(ip + 16);
            frame.destinationHigh = in.getLong(ip + 24);
            frame.destinationLow = in.getLong(ip + 32);
        } else {
            return null;
        }
        frame.sourcePort = in.getShort(udp) & 0xffff;
        frame.destinationPort = in.getShort(udp + 2) & 0xffff;
        frame.segment = MemorySegment.ofArray(file);
        frame.buffer = in;
        frame.offset = udp + 8;
        frame.length = (in.getShort(udp + 4) & 0xffff) - 8;
        return frame.destinationPort == Frame.UDP_PORT ? frame : null;
    }
}
