package io.rdma4j.link.decorator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads files of {@link PcapngWriter} and asserts that they are well formed. */
final class PcapngReader {
    private PcapngReader() {}

    /** One packet of a capture. */
    record Packet(long epochNanos, int flags, ByteBuffer bytes) {}

    static List<Packet> read(Path file) throws IOException {
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        List<Packet> packets = new ArrayList<>();
        int interfaces = 0;
        boolean first = true;
        while (all.hasRemaining()) {
            int type = all.getInt();
            int length = all.getInt();
            assertThat(length % 4).isZero();
            ByteBuffer body = all.slice(all.position(), length - 12).order(ByteOrder.LITTLE_ENDIAN);
            all.position(all.position() + length - 12);
            assertThat(all.getInt()).as("length at the end of the block").isEqualTo(length);
            switch (type) {
                case 0x0a0d0d0a -> {
                    assertThat(first).isTrue();
                    assertThat(body.getInt()).isEqualTo(0x1a2b3c4d);
                    assertThat(body.getShort()).isEqualTo((short) 1);
                    assertThat(body.getShort()).isZero();
                    assertThat(body.getLong()).isEqualTo(-1);
                }
                case 1 -> {
                    interfaces++;
                    assertThat(body.getShort()).isEqualTo((short) 101);
                    assertThat(body.getShort()).isZero();
                    assertThat(body.getInt()).isZero();
                    assertThat(option(body, 9)).isEqualTo(ByteBuffer.wrap(new byte[] {9}));
                }
                case 6 -> packets.add(packet(body));
                default -> throw new AssertionError("block type " + type);
            }
            first = false;
        }
        assertThat(interfaces).isEqualTo(1);
        return packets;
    }

    private static Packet packet(ByteBuffer body) {
        assertThat(body.getInt()).as("interface").isZero();
        long time = (body.getInt() & 0xffff_ffffL) << 32 | body.getInt() & 0xffff_ffffL;
        int captured = body.getInt();
        assertThat(body.getInt()).isEqualTo(captured);
        ByteBuffer bytes = body.slice(body.position(), captured).order(ByteOrder.BIG_ENDIAN);
        body.position(body.position() + (captured + 3 & ~3));
        ByteBuffer flags = option(body, 2).order(ByteOrder.LITTLE_ENDIAN);
        return new Packet(time, flags.getInt(0), bytes);
    }

    /** Returns the value of an option. All options must be well formed up to the end mark at the end of the block. */
    private static ByteBuffer option(ByteBuffer body, int wanted) {
        ByteBuffer found = ByteBuffer.allocate(0);
        while (true) {
            int code = body.getShort();
            int length = body.getShort();
            if (code == 0) {
                assertThat(length).isZero();
                assertThat(body.hasRemaining()).isFalse();
                return found;
            }
            if (code == wanted) {
                found = body.slice(body.position(), length);
            }
            body.position(body.position() + (length + 3 & ~3));
        }
    }
}
