package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.GsiPacket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Reads the CM messages of the captures of the module wire: IPv4 over Ethernet, classic pcap. */
final class CapturedMads {
    private static final Path FOLDER = Path.of("..", "wire", "src", "test", "resources", "captures");
    private static final int FILE_HEADER = 24;
    private static final int RECORD_HEADER = 16;
    private static final int IP = 14;
    private static final int UDP = IP + 20;
    private static final int ROCE = UDP + 8;

    private CapturedMads() {}

    /** A MAD, with its frame number in the file, from 1, and its time. */
    record CapturedMad(int number, long nanos, Gid from, Gid to, MemorySegment mad) {
        CmMessage message() {
            return Objects.requireNonNull(CmMessage.parse(mad, 0, mad.byteSize()), () -> "frame " + number);
        }
    }

    static List<CapturedMad> read(String file) {
        byte[] bytes = load(file);
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        List<CapturedMad> found = new ArrayList<>();
        int number = 0;
        for (int at = FILE_HEADER; at < bytes.length; ) {
            number++;
            long nanos = in.getInt(at) * 1_000_000_000L + in.getInt(at + 4) * 1_000L;
            int length = in.getInt(at + 8);
            int start = at + RECORD_HEADER;
            boolean roce = (in.getShort(start + 12) & 0xffff) == 0x0008 // IPv4, read little-endian
                    && in.get(start + IP + 9) == 17
                    && Short.reverseBytes(in.getShort(start + UDP + 2)) == Frame.UDP_PORT;
            if (roce) {
                add(found, bytes, start, number, nanos);
            }
            at = start + length;
        }
        return found;
    }

    private static void add(List<CapturedMad> found, byte[] bytes, int start, int number, long nanos) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        Frame frame = new Frame();
        frame.segment = MemorySegment.ofArray(bytes);
        frame.buffer = in;
        frame.offset = start + ROCE;
        frame.length = (in.getShort(start + UDP + 4) & 0xffff) - 8;
        Packet packet = new Packet();
        if (packet.parse(frame) == Packet.Result.OK && GsiPacket.isDeliverable(packet)) {
            found.add(new CapturedMad(
                    number,
                    nanos,
                    Gid.ofIpv4(in.getInt(start + IP + 12)),
                    Gid.ofIpv4(in.getInt(start + IP + 16)),
                    frame.segment.asSlice(packet.payloadOffset(), packet.payloadLength())));
        }
    }

    private static byte[] load(String file) {
        try {
            return Files.readAllBytes(FOLDER.resolve(file + ".pcap"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
