package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Properties of the ICRC. {@link CaptureCorpusTest} checks it against all captured frames of Linux. */
class IcrcTest {
    /** RDMA WRITE ONLY of rping over IPv4, with the captured ICRC: capture rping #8. */
    private static final Captures.Captured RPING = Captures.frame("rping", 8);

    private final Icrc icrc = new Icrc();

    @Test
    void sealWritesTheIcrcThatLinuxSent() {
        byte[] sent = RPING.bytes();
        Frame frame = copyOf(RPING.frame(), 0xa5, 3);
        frame.buffer.putInt(frame.offset + frame.length - 4, 0);
        icrc.seal(frame);
        byte[] sealed = new byte[frame.length];
        frame.buffer.get(frame.offset, sealed);
        assertThat(HexFormat.of().formatHex(sealed)).isEqualTo(HexFormat.of().formatHex(sent));
    }

    /** A FLUSH that Linux 6.12 sent over IPv4 with identification 0xc480. */
    private static Frame flushOfLinux(boolean isIdentificationKnown) {
        byte[] bytes =
                HexFormat.of().parseHex("1c00ffff00e1506a805028e6000000012c5d2c014dd510085ec218cc00000bb8e49059d4");
        Frame frame = frameOf(bytes.length);
        frame.buffer.put(frame.offset, bytes);
        frame.sourceHigh = 0;
        frame.sourceLow = Gid.ipv4Low(0x0a58_0002);
        frame.destinationHigh = 0;
        frame.destinationLow = Gid.ipv4Low(0x0a58_0001);
        frame.sourcePort = 0xe56c;
        frame.destinationPort = Frame.UDP_PORT;
        frame.identification = isIdentificationKnown ? 0xc480 : Frame.IDENTIFICATION_UNKNOWN;
        return frame;
    }

    @Test
    void flushOfLinuxIsIntactWhetherItsIdentificationIsKnownOrNot() {
        assertThat(icrc.verify(flushOfLinux(true))).isTrue();
        Frame frame = flushOfLinux(false);
        assertThat(icrc.verify(frame)).isTrue();
        assertThat(frame.identification).isEqualTo(0xc480);
    }

    @Test
    void corruptedFlushOfLinuxIsDetected() {
        for (int bit = 0; bit < 36 * 8; bit++) {
            Frame frame = flushOfLinux(false);
            int at = frame.offset + bit / 8;
            frame.buffer.put(at, (byte) (frame.buffer.get(at) ^ 1 << bit % 8));
            assertThat(icrc.verify(frame)).as("bit %d", bit).isFalse();
        }
    }

    @Test
    void flushIsSealedAsLinuxSealsIt() {
        Frame frame = flushOfLinux(true);
        int at = frame.offset + frame.length - Icrc.LENGTH;
        int sent = frame.buffer.getInt(at);
        frame.buffer.putInt(at, 0);
        icrc.sealFlushAsLinux(frame);
        assertThat(frame.buffer.getInt(at)).isEqualTo(sent);
        icrc.seal(frame);
        assertThat(frame.buffer.getInt(at)).isNotEqualTo(sent);
        assertThat(icrc.verify(frame)).isTrue();
    }

    /** One instance seals frames of all lengths and kinds in any order. Its cached state must not affect the result. */
    @Test
    void sealMatchesTheDefinitionAfterAnyOtherFrame() {
        Random random = new Random(71);
        List<Integer> lengths = new ArrayList<>();
        for (int length = 16; length < 1200; length++) {
            lengths.addAll(List.of(length, length));
        }
        lengths.addAll(List.of(4144, 65_000, 65_535, 16, 65_535));
        Collections.shuffle(lengths, random);
        for (int length : lengths) {
            Frame frame = frameOf(length);
            random.nextBytes(frame.buffer.array());
            frame.identification = random.nextInt(1 << 16);
            frame.sourcePort = random.nextInt(1 << 16);
            frame.sourceLow = Gid.ipv4Low(random.nextInt());
            if (random.nextBoolean()) {
                frame.sourceHigh = random.nextLong();
                frame.destinationHigh = random.nextLong();
                frame.destinationLow = random.nextLong();
            }
            sealsByDefinition(frame);
            // Another frame of the same burst, and one that differs from it in one field.
            random.nextBytes(frame.buffer.array());
            frame.identification = random.nextInt(1 << 16);
            sealsByDefinition(frame);
            switch (random.nextInt(5)) {
                case 0 -> frame.sourceLow ^= 1L << random.nextInt(32);
                case 1 -> frame.destinationLow ^= 1L << random.nextInt(32);
                case 2 -> frame.sourcePort ^= 1 << random.nextInt(16);
                case 3 -> frame.destinationPort ^= 1 << random.nextInt(16);
                default -> frame.length = Math.max(16, length - 1);
            }
            sealsByDefinition(frame);
        }
    }

    private void sealsByDefinition(Frame frame) {
        icrc.seal(frame);
        int sealed = Integer.reverseBytes(frame.buffer.getInt(frame.length - 4));
        assertThat(sealed).as("%d bytes", frame.length).isEqualTo(byDefinition(frame));
    }

    /** Computes the ICRC bit by bit as defined in annex A17, over a separate layout. */
    private static int byDefinition(Frame frame) {
        int headers = 8 + (frame.isIpv4() ? 20 : 40) + 8;
        ByteBuffer all = ByteBuffer.allocate(headers + frame.length - 4);
        all.putLong(-1L);
        int udpLength = 8 + frame.length;
        if (frame.isIpv4()) {
            all.put((byte) 0x45).put((byte) 0xff).putShort((short) (20 + udpLength));
            all.putShort((short) frame.identification).putShort((short) 0x4000);
            all.put((byte) 0xff).put((byte) 17).putShort((short) 0xffff);
            all.putInt((int) frame.sourceLow).putInt((int) frame.destinationLow);
        } else {
            all.putInt(0x6fffffff).putShort((short) udpLength).put((byte) 17).put((byte) 0xff);
            all.putLong(frame.sourceHigh).putLong(frame.sourceLow);
            all.putLong(frame.destinationHigh).putLong(frame.destinationLow);
        }
        all.putShort((short) frame.sourcePort).putShort((short) frame.destinationPort);
        all.putShort((short) udpLength).putShort((short) 0xffff);
        all.put(frame.buffer.array(), 0, frame.length - 4);
        all.put(headers + 4, (byte) 0xff);
        int register = -1;
        for (byte b : all.array()) {
            register ^= b & 0xff;
            for (int bit = 0; bit < 8; bit++) {
                register = register >>> 1 ^ 0xedb8_8320 & -(register & 1);
            }
        }
        return ~register;
    }

    @Test
    void sealPreservesAdjacentBytesAndTheBufferState() {
        Frame frame = copyOf(RPING.frame(), 0xa5, 3);
        frame.buffer.limit(frame.buffer.capacity() - 1).position(1);
        icrc.seal(frame);
        assertThat(frame.buffer.position()).isEqualTo(1);
        assertThat(frame.buffer.limit()).isEqualTo(frame.buffer.capacity() - 1);
        assertThat(icrc.verify(frame)).isTrue();
        assertThat(frame.buffer.position()).isEqualTo(1);
        assertThat(frame.buffer.limit()).isEqualTo(frame.buffer.capacity() - 1);
        frame.buffer.clear();
        for (int i = 0; i < frame.offset; i++) {
            assertThat(frame.buffer.get(i)).isEqualTo((byte) 0xa5);
        }
        for (int i = frame.offset + frame.length; i < frame.buffer.capacity(); i++) {
            assertThat(frame.buffer.get(i)).isEqualTo((byte) 0xa5);
        }
    }

    @Test
    void sealIsTheSameOnHeapAndNativeMemoryAndInEitherByteOrder() {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            Frame heap = copyOf(RPING.frame(), 0, 0);
            heap.buffer.order(order);
            try (Arena arena = Arena.ofConfined()) {
                Frame direct = new Frame();
                direct.set(RPING.frame());
                direct.segment = arena.allocate(direct.length);
                direct.buffer = direct.segment.asByteBuffer().order(order);
                direct.buffer.put(0, RPING.bytes());
                direct.offset = 0;
                int at = direct.length - 4;
                heap.buffer.putInt(at, 0);
                direct.buffer.putInt(at, 0);
                icrc.seal(heap);
                icrc.seal(direct);
                for (int i = 0; i < direct.length; i++) {
                    assertThat(direct.buffer.get(i)).isEqualTo(heap.buffer.get(i));
                }
                assertThat(icrc.verify(direct)).isTrue();
                assertThat(icrc.verify(heap)).isTrue();
            }
        }
    }

    @Test
    void sealTreatsAnUnknownIdentificationAsZero() {
        Frame unknown = copyOf(RPING.frame(), 0, 0);
        unknown.identification = Frame.IDENTIFICATION_UNKNOWN;
        icrc.seal(unknown);
        assertThat(icrc.recoverIdentification(unknown)).isZero();
        unknown.identification = 0;
        assertThat(icrc.verify(unknown)).isTrue();
    }

    @Test
    void everyIdentificationVerifiesAndIsRecoveredAtEveryLength() {
        Random random = new Random(20_26);
        Frame frame = frameOf(65_507);
        random.nextBytes(frame.buffer.array());
        int[] lengths = {16, 17, 20, 24, 255, 256, 257, 280, 511, 512, 1048, 4096, 4160, 9000, 32_768, 65_506, 65_507};
        for (int length : lengths) {
            frame.length = length;
            for (int i = 0; i < 40; i++) {
                int sent = i == 0 ? 0xffff : i <= 16 ? 1 << i - 1 : random.nextInt(0x10000);
                frame.identification = sent;
                icrc.seal(frame);
                assertThat(icrc.verify(frame)).isTrue();
                assertThat(icrc.recoverIdentification(frame)).isEqualTo(sent);
                frame.identification = sent ^ 1;
                assertThat(icrc.verify(frame)).isFalse();
                frame.identification = Frame.IDENTIFICATION_UNKNOWN;
                assertThat(icrc.verify(frame)).isTrue();
            }
        }
    }

    @Test
    void changeIdentificationPreservesTheValidityOfTheIcrc() {
        Frame frame = copyOf(RPING.frame(), 0, 0);
        assertThat(icrc.verify(frame)).isTrue();
        icrc.changeIdentification(frame, frame.identification ^ 0x1235);
        assertThat(icrc.verify(frame)).isTrue();
        frame.buffer.put(frame.length - 5, (byte) ~frame.buffer.get(frame.length - 5));
        icrc.changeIdentification(frame, 7);
        assertThat(frame.identification).isEqualTo(7);
        assertThat(icrc.verify(frame)).isFalse();
        frame.buffer.put(frame.length - 5, (byte) ~frame.buffer.get(frame.length - 5));
        assertThat(icrc.verify(frame)).isTrue();
    }

    @Test
    void verifyReplacesThePresumedIdentificationByTheRecoveredOne() {
        Frame frame = frameOf(280);
        frame.identification = 63;
        icrc.seal(frame);
        for (int presumed : new int[] {63, 0, 62}) {
            frame.identification = ~presumed;
            assertThat(icrc.verify(frame)).isTrue();
            assertThat(frame.identification).isEqualTo(63);
        }
    }

    @Test
    void everySingleBitErrorIsDetectedEvenWithUnknownIdentification() {
        Frame frame = copyOf(RPING.frame(), 0, 0);
        for (int known : new int[] {frame.identification, Frame.IDENTIFICATION_UNKNOWN}) {
            frame.identification = known;
            for (int bit = 0; bit < frame.length * 8; bit++) {
                int at = bit / 8;
                if (at == 4) {
                    continue;
                }
                byte before = frame.buffer.get(at);
                frame.buffer.put(at, (byte) (before ^ 1 << bit % 8));
                assertThat(icrc.verify(frame))
                        .as("bit %d, identification %d", bit, known)
                        .isFalse();
                frame.buffer.put(at, before);
            }
        }
    }

    @Test
    void aCorruptedFrameOfUnknownIdentificationPassesOnceIn65536() {
        Frame frame = frameOf(280);
        frame.identification = Frame.IDENTIFICATION_UNKNOWN;
        icrc.seal(frame);
        Random random = new Random(7);
        int passed = 0;
        int runs = 400_000;
        int icrcAt = frame.length - 4;
        for (int i = 0; i < runs; i++) {
            frame.buffer.putInt(icrcAt, random.nextInt());
            if (icrc.verify(frame)) {
                passed++;
            }
        }
        assertThat(passed).isBetween(1, 18);
    }

    @Test
    void aDifferenceThatNoIdentificationExplainsIsCorruption() {
        // Identifications shift the sum of a frame two bytes longer by x^16 to x^31.
        for (int bit = 0; bit < 16; bit++) {
            Frame frame = frameOf(280);
            int difference = shiftOf(1 << bit, frame.length + 2);
            icrc.seal(frame);
            frame.buffer.putInt(276, frame.buffer.getInt(276) ^ difference);
            frame.identification = Frame.IDENTIFICATION_UNKNOWN;
            assertThat(icrc.verify(frame)).isFalse();
            assertThat(icrc.recoverIdentification(frame)).isEqualTo(Icrc.NO_IDENTIFICATION);
        }
    }

    @Test
    void anIpv6FrameWithADifferenceThatAnIdentificationWouldExplainIsCorrupted() {
        Frame frame = frameOf(280);
        frame.destinationHigh = 0xfe80_0000_0000_0000L;
        icrc.seal(frame);
        frame.identification = Frame.IDENTIFICATION_UNKNOWN;
        assertThat(icrc.verify(frame)).isTrue();
        frame.buffer.putInt(276, frame.buffer.getInt(276) ^ shiftOf(1, frame.length));
        assertThat(icrc.verify(frame)).isFalse();
    }

    /** Returns the change of the stored ICRC of an IPv4 frame of this length by an identification, in buffer order. */
    private int shiftOf(int identification, int length) {
        Frame frame = frameOf(length);
        icrc.seal(frame);
        int without = frame.buffer.getInt(length - 4);
        frame.identification = identification;
        icrc.seal(frame);
        return without ^ frame.buffer.getInt(length - 4);
    }

    @Test
    void congestionBitsAreNotCovered() {
        Frame frame = copyOf(RPING.frame(), 0, 0);
        for (int value = 0; value < 256; value++) {
            frame.buffer.put(4, (byte) value);
            assertThat(icrc.verify(frame)).isTrue();
        }
        frame.hopLimit = 1;
        frame.trafficClass = 0x2f;
        assertThat(icrc.verify(frame)).isTrue();
    }

    @Test
    void addressesPortsAndLengthAreCovered() {
        for (Captures.Captured captured : new Captures.Captured[] {RPING, Captures.frame("rping6", 8)}) {
            Frame frame = copyOf(captured.frame(), 0, 4);
            assertThat(icrc.verify(frame)).isTrue();
            Frame other = new Frame();
            other.set(frame);
            other.sourceLow ^= 1;
            assertThat(icrc.verify(other)).isFalse();
            other.set(frame);
            other.destinationLow ^= 1L << 31;
            assertThat(icrc.verify(other)).isFalse();
            other.set(frame);
            other.sourcePort ^= 1;
            assertThat(icrc.verify(other)).isFalse();
            other.set(frame);
            other.destinationPort ^= 0x8000;
            assertThat(icrc.verify(other)).isFalse();
            other.set(frame);
            other.length--;
            assertThat(icrc.verify(other)).isFalse();
        }
    }

    @Test
    void ipv6IsExactAndHasNoIdentificationToRecover() {
        Frame frame = copyOf(Captures.frame("rping6", 8).frame(), 0, 0);
        frame.identification = Frame.IDENTIFICATION_UNKNOWN;
        assertThat(frame.isIpv4()).isFalse();
        assertThat(icrc.verify(frame)).isTrue();
        assertThat(icrc.recoverIdentification(frame)).isEqualTo(Icrc.NO_IDENTIFICATION);
        int icrcAt = frame.length - 4;
        for (int bit = 0; bit < 32; bit++) {
            frame.buffer.putInt(icrcAt, frame.buffer.getInt(icrcAt) ^ 1 << bit);
            assertThat(icrc.verify(frame)).isFalse();
            frame.buffer.putInt(icrcAt, frame.buffer.getInt(icrcAt) ^ 1 << bit);
        }
    }

    @Test
    void aFrameTooShortOrTooLongForAPacketIsInvalid() {
        Frame frame = frameOf(16);
        for (int length = -1; length < 16; length++) {
            frame.length = length;
            assertThat(icrc.verify(frame)).isFalse();
            assertThat(icrc.recoverIdentification(frame)).isEqualTo(Icrc.NO_IDENTIFICATION);
        }
        frame.length = 0x10000;
        assertThat(icrc.verify(frame)).isFalse();
        assertThat(icrc.recoverIdentification(frame)).isEqualTo(Icrc.NO_IDENTIFICATION);
    }

    private static Frame frameOf(int length) {
        Frame frame = new Frame();
        frame.buffer = ByteBuffer.allocate(length);
        frame.length = length;
        frame.sourceLow = Gid.ipv4Low(0x7f000001);
        frame.destinationLow = Gid.ipv4Low(0x7f000002);
        frame.sourcePort = 0xd872;
        return frame;
    }

    /** Copies a frame, with {@code margin} bytes of {@code fill} before and after it. */
    private static Frame copyOf(Frame from, int fill, int margin) {
        Frame frame = new Frame();
        frame.set(from);
        byte[] bytes = new byte[from.length + 2 * margin];
        Arrays.fill(bytes, (byte) fill);
        from.buffer.get(from.offset, bytes, margin, from.length);
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.offset = margin;
        return frame;
    }
}
