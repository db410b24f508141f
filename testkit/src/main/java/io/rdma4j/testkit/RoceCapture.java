package io.rdma4j.testkit;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The RoCEv2 frames of a capture file, for tests: its UDP datagrams to port 4791.
 *
 * <p>Reads pcapng in the form that {@link io.rdma4j.link.decorator.PcapngWriter} writes ({@code --pcap}, {@code -Drdma4j.pcap}),
 * and pcap as tcpdump writes it for an Ethernet interface. A file that is still being written, or whose writer was
 * killed, is read up to its last complete packet. Immutable as long as no frame is modified.
 */
public final class RoceCapture {
    private static final int SECTION_HEADER = 0x0a0d0d0a;
    private static final int ENHANCED_PACKET = 6;
    private static final int BLOCK_MINIMUM_BYTES = 12;
    private static final int PACKET_HEADER_BYTES = 28;
    private static final int CAPTURED_LENGTH = 20;
    private static final int PCAP = 0xa1b2c3d4;
    private static final int PCAP_HEADER_BYTES = 24;
    private static final int PCAP_LINK_TYPE = 20;
    private static final int PCAP_RECORD_BYTES = 16;
    private static final int ETHERNET = 1;
    private static final int ETHERNET_HEADER_BYTES = 14;
    private static final int UDP = 17;
    private static final int UDP_HEADER_BYTES = 8;
    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;

    private final List<Frame> frames = new ArrayList<>();
    private final Map<Opcode, Integer> opcodes = new EnumMap<>(Opcode.class);
    private int otherPackets;
    private long bytes;

    private RoceCapture() {}

    /**
     * Reads a capture.
     *
     * @param file the capture file
     * @throws IOException if the file cannot be read, or is neither pcapng nor pcap of Ethernet
     */
    public static RoceCapture read(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        ByteBuffer blocks = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        RoceCapture capture = new RoceCapture();
        if (content.length >= PCAP_HEADER_BYTES
                && blocks.getInt(0) == PCAP
                && blocks.getInt(PCAP_LINK_TYPE) == ETHERNET) {
            capture.addRecords(content, blocks);
            return capture;
        }
        if (content.length < BLOCK_MINIMUM_BYTES || blocks.getInt(0) != SECTION_HEADER) {
            throw new IOException(file + " is neither a pcapng capture nor a pcap capture of Ethernet");
        }
        for (int at = 0; content.length - at >= BLOCK_MINIMUM_BYTES; ) {
            int length = blocks.getInt(at + 4);
            if (length < BLOCK_MINIMUM_BYTES || length > content.length - at) {
                break;
            }
            if (blocks.getInt(at) == ENHANCED_PACKET) {
                capture.add(content, at + PACKET_HEADER_BYTES, blocks.getInt(at + CAPTURED_LENGTH));
            }
            at += length;
        }
        return capture;
    }

    private void addRecords(byte[] content, ByteBuffer records) {
        int at = PCAP_HEADER_BYTES;
        while (content.length - at >= PCAP_RECORD_BYTES) {
            int length = records.getInt(at + 8);
            at += PCAP_RECORD_BYTES;
            if (length < 0 || length > content.length - at) {
                return;
            }
            if (length >= ETHERNET_HEADER_BYTES + IPV6_HEADER_BYTES) {
                add(content, at + ETHERNET_HEADER_BYTES, length - ETHERNET_HEADER_BYTES);
            }
            at += length;
        }
    }

    private void add(byte[] content, int ip, int length) {
        ByteBuffer in = ByteBuffer.wrap(content);
        boolean ipv4 = in.get(ip) >>> 4 == 4;
        int udp = ip + (ipv4 ? IPV4_HEADER_BYTES : IPV6_HEADER_BYTES);
        int protocol = in.get(ip + (ipv4 ? 9 : 6));
        if (protocol != UDP || Short.toUnsignedInt(in.getShort(udp + 2)) != Frame.UDP_PORT) {
            otherPackets++;
            return;
        }
        Frame frame = new Frame();
        if (ipv4) {
            frame.trafficClass = Byte.toUnsignedInt(in.get(ip + 1));
            frame.identification = Short.toUnsignedInt(in.getShort(ip + 4));
            frame.hopLimit = Byte.toUnsignedInt(in.get(ip + 8));
            frame.sourceLow = Frame.ipv4Low(in.getInt(ip + 12));
            frame.destinationLow = Frame.ipv4Low(in.getInt(ip + 16));
        } else {
            frame.trafficClass = in.getInt(ip) >>> 20 & 0xff;
            frame.hopLimit = Byte.toUnsignedInt(in.get(ip + 7));
            frame.sourceHigh = in.getLong(ip + 8);
            frame.sourceLow = in.getLong(ip + 16);
            frame.destinationHigh = in.getLong(ip + 24);
            frame.destinationLow = in.getLong(ip + 32);
        }
        frame.sourcePort = Short.toUnsignedInt(in.getShort(udp));
        frame.segment = MemorySegment.ofArray(content);
        frame.buffer = in;
        frame.offset = udp + UDP_HEADER_BYTES;
        frame.length = ip + length - frame.offset;
        frames.add(frame);
        bytes += frame.length;
        Packet packet = new Packet();
        if (packet.parse(frame) == Packet.Result.OK) {
            opcodes.merge(packet.opcode(), 1, Integer::sum);
        }
    }

    /**
     * Returns the RoCEv2 frames, sent and received, in the order in which they were captured; each spans BTH to ICRC.
     */
    public List<Frame> frames() {
        return List.copyOf(frames);
    }

    /** Returns the total length of these frames, from BTH to ICRC. */
    public long bytes() {
        return bytes;
    }

    /** Returns the number of frames of each opcode. Malformed frames are not counted. */
    public Map<Opcode, Integer> opcodes() {
        return Map.copyOf(opcodes);
    }

    /** Returns the number of frames whose ICRC is wrong. */
    public long icrcErrors() {
        Icrc icrc = new Icrc();
        return frames.stream().filter(frame -> !icrc.verify(frame)).count();
    }

    /** Returns the number of packets that are not RoCEv2 frames; a capture written by rdma4j has none. */
    public int others() {
        return otherPackets;
    }
}
