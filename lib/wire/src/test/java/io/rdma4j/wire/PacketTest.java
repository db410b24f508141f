package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PacketTest {
    private final Packet packet = new Packet();

    @Test
    void everyOpcodeAtEveryLengthIsParsedOrRejectedWithoutException() {
        for (int code = 0; code < 256; code++) {
            Opcode opcode = Opcode.of(code);
            for (int pad = 0; pad < 4; pad++) {
                for (int length = 0; length <= 64; length++) {
                    byte[] bytes = new byte[length];
                    Arrays.fill(bytes, (byte) 0x5a);
                    if (length > 1) {
                        bytes[0] = (byte) code;
                        bytes[1] = (byte) (pad << 4);
                    }
                    Packet.Result result = packet.parse(frameOf(bytes));
                    assertThat(result)
                            .as("%02x pad %d, %d bytes", code, pad, length)
                            .isEqualTo(expected(opcode, pad, length));
                    if (result == Packet.Result.OK) {
                        readAll(length);
                    }
                }
            }
        }
    }

    private static Packet.Result expected(@Nullable Opcode opcode, int pad, int length) {
        if (length < 16) {
            return Packet.Result.TOO_SHORT;
        }
        if (opcode == null) {
            return Packet.Result.UNKNOWN_OPCODE;
        }
        return length < opcode.headerLength() + pad + 4 ? Packet.Result.TRUNCATED : Packet.Result.OK;
    }

    private void readAll(int length) {
        Opcode opcode = packet.opcode();
        MemorySegment s = packet.segment();
        long end = packet.payloadOffset() + packet.payloadLength() + packet.padCount() + Packet.ICRC_LENGTH;
        assertThat(end).isEqualTo(length);
        assertThat(packet.payloadLength()).isNotNegative();
        Bth.parse(s, 0);
        if (opcode.hasDeth()) {
            assertThat(Deth.parse(s, packet.dethOffset()).queueKey()).isEqualTo(0x5a5a_5a5a);
        }
        if (opcode.hasReth()) {
            assertThat(Reth.parse(s, packet.rethOffset()).key()).isEqualTo(0x5a5a_5a5a);
        }
        if (opcode.hasAtomicEth()) {
            assertThat(AtomicEth.parse(s, packet.atomicEthOffset()).key()).isEqualTo(0x5a5a_5a5a);
        }
        if (opcode.hasAeth()) {
            assertThat(packet.syndrome()).isEqualTo(0x5a);
        }
        if (opcode.hasAtomicAckEth()) {
            assertThat(AtomicAckEth.original(s, packet.atomicAckEthOffset())).isEqualTo(0x5a5a_5a5a_5a5a_5a5aL);
        }
        if (opcode.hasImmediate()) {
            assertThat(packet.immediate()).isEqualTo(0x5a5a_5a5a);
        }
        if (opcode.hasIeth()) {
            assertThat(packet.invalidateKey()).isEqualTo(0x5a5a_5a5a);
        }
    }

    @Test
    void everyVersionExceptZeroIsRejected() {
        for (int version = 0; version < 16; version++) {
            byte[] bytes = Captures.frame("rping", 7).bytes();
            bytes[1] |= (byte) version;
            assertThat(packet.parse(frameOf(bytes)))
                    .isEqualTo(version == 0 ? Packet.Result.OK : Packet.Result.BAD_VERSION);
        }
    }

    @Test
    void negativeLengthsAreTooShort() {
        Frame frame = frameOf(new byte[0]);
        frame.length = Integer.MIN_VALUE;
        assertThat(packet.parse(frame)).isEqualTo(Packet.Result.TOO_SHORT);
        frame.length = -1;
        assertThat(packet.parse(frame)).isEqualTo(Packet.Result.TOO_SHORT);
    }

    @Test
    void aWriteWithImmediateIsReadInPlace() {
        Frame frame = Captures.frame("all", 14).frame();
        assertThat(packet.parse(frame)).isEqualTo(Packet.Result.OK);
        assertThat(packet.frame()).isSameAs(frame);
        assertThat(packet.opcode()).isEqualTo(Opcode.RC_WRITE_ONLY_IMMEDIATE);
        assertThat(packet.psn()).isEqualTo(0x1d2243);
        assertThat(packet.solicited()).isFalse();
        assertThat(packet.acknowledgeRequest()).isTrue();
        assertThat(packet.partitionKey()).isEqualTo(0xffff);
        assertThat(packet.destinationQueuePair()).isEqualTo(0x19);
        assertThat(packet.immediate()).isEqualTo(0xcafe_0002);
        assertThat(packet.padCount()).isEqualTo(2);
        assertThat(packet.payloadLength()).isEqualTo(10);
        assertThat(packet.payloadOffset()).isEqualTo(frame.offset + 32);
        assertThat(Reth.dmaLength(packet.segment(), packet.rethOffset())).isEqualTo(10);
    }

    @Test
    void aSolicitedSendAndAKeyToInvalidateAreReadInPlace() {
        assertThat(packet.parse(Captures.frame("all", 8).frame())).isEqualTo(Packet.Result.OK);
        assertThat(packet.solicited()).isTrue();
        assertThat(packet.payloadLength()).isZero();
        assertThat(packet.parse(Captures.frame("all", 34).frame())).isEqualTo(Packet.Result.OK);
        assertThat(packet.invalidateKey()).isEqualTo(0x0800_01b4);
        assertThat(packet.payloadLength()).isEqualTo(4);
    }

    private static Frame frameOf(byte[] bytes) {
        Frame frame = new Frame();
        frame.segment = MemorySegment.ofArray(bytes);
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.length = bytes.length;
        return frame;
    }
}
