package io.rdma4j.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The RoCEv2 frames of a capture file, for tests: its UDP datagrams to port 4791.
 *
 * <p>Reads pcapng in the form that the software device writes ({@code --pcap}, {@code -Drdma4j.pcap}), and pcap as tcpdump
 * writes it for an Ethernet interface. A file that is still being written, or whose writer was killed, is read up to its
 * last complete packet. Immutable and thread safe.
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

    private final List<CapturedFrame> frames = new ArrayList<>();
    private int otherPackets;

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
            if (length >= ETHERNET_HEADER_BYTES) {
                add(content, at + ETHERNET_HEADER_BYTES, length - ETHERNET_HEADER_BYTES);
            }
            at += length;
        }
    }

    private void add(byte[] content, int ip, int length) {
        byte[] packet = Arrays.copyOfRange(content, ip, ip + length);
        if (CapturedFrame.isRoce(packet)) {
            frames.add(CapturedFrame.of(packet));
        } else {
            otherPackets++;
        }
    }

    /** Returns the RoCEv2 frames, sent and received, in the order in which they were captured. */
    public List<CapturedFrame> frames() {
        return List.copyOf(frames);
    }

    /** Returns the total length of these frames, from BTH to ICRC. */
    public long bytes() {
        return frames.stream().mapToLong(CapturedFrame::length).sum();
    }

    /** Returns the number of frames of each opcode, by the opcode byte of the BTH. */
    public Map<Integer, Integer> opcodes() {
        Map<Integer, Integer> counts = new TreeMap<>();
        frames.forEach(frame -> counts.merge(frame.opcode(), 1, Integer::sum));
        return counts;
    }

    /** Returns the number of frames whose ICRC is wrong. */
    public long icrcErrors() {
        return frames.stream().filter(frame -> !frame.isIcrcValid()).count();
    }

    /** Returns the number of packets that are not RoCEv2 frames; a capture written by rdma4j has none. */
    public int others() {
        return otherPackets;
    }
}
