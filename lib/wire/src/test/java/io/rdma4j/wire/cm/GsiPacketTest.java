package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.Captures;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class GsiPacketTest {
    /** Capture rping #6: RTU, the sender's second packet to queue pair 1. */
    private static final Captures.Captured RTU = Captures.frame("rping", 6);

    @Test
    void packetHasTheSameBytesAsFromLinux() {
        byte[] bytes = new byte[GsiPacket.LENGTH + 2];
        Arrays.fill(bytes, (byte) 0xa5);
        Frame frame = new Frame();
        frame.set(RTU.frame());
        frame.segment = MemorySegment.ofArray(bytes);
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.offset = 1;
        Rtu rtu = new Rtu(0x910f_3ce3, 0x8f01_1ff1, PrivateData.EMPTY);
        int length = GsiPacket.write(frame.segment, 1, 1, 0x2_e33c_0f91L, rtu);
        assertThat(length).isEqualTo(280);
        assertThat(frame.buffer.getInt(1 + length - 4)).isEqualTo(0xa5a5_a5a5);
        new Icrc().seal(frame);
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("a5" + HexFormat.of().formatHex(RTU.bytes()) + "a5");
    }

    @Test
    void onlyADatagramOfTheDefaultPartitionWithTheRightKeyIsDeliverable() {
        assertThat(deliverable(0, 0x64)).isTrue();
        assertThat(deliverable(2, 0x7f)).as("limited member").isTrue();
        assertThat(deliverable(2, 0x12)).as("another partition").isFalse();
        assertThat(deliverable(7, 2)).as("another queue pair").isFalse();
        assertThat(deliverable(12, 0)).as("another queue key").isFalse();
        assertThat(deliverable(0, 0x65)).as("with immediate data").isFalse();
        assertThat(deliverable(0, 0x04)).as("of a connection").isFalse();
        assertThat(deliverable(19, 9)).as("from any queue pair").isTrue();
    }

    private static boolean deliverable(int at, int value) {
        byte[] bytes = RTU.bytes();
        bytes[at] = (byte) value;
        Frame frame = new Frame();
        frame.segment = MemorySegment.ofArray(bytes);
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.length = bytes.length;
        Packet packet = new Packet();
        assertThat(packet.parse(frame)).isEqualTo(Packet.Result.OK);
        assertThat(GsiPacket.isGsi(packet)).isEqualTo(at != 7);
        return GsiPacket.isDeliverable(packet);
    }
}
