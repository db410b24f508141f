package io.rdma4j.wire.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Golden bytes: the private data of the request, captures rstream #1 and riostream #1. */
class ConnectDataTest {
    private static final byte[] RSTREAM = HexFormat.of()
            .parseHex("0102018000000000" + "0000556ed05c300000000fd500000002" + "00007fcb48fb80000000106900080000");
    private static final byte[] RIOSTREAM = HexFormat.of()
            .parseHex("0102018000000001" + "00005625ccafb0000000193700000002" + "00007f307f3d700000001a0000080000");

    private static ConnectData read(byte[] bytes) {
        return Objects.requireNonNull(ConnectData.parse(bytes));
    }

    @Test
    void goldenBytesDecode() {
        assertThat(read(RSTREAM))
                .isEqualTo(new ConnectData(
                        false,
                        true,
                        384,
                        0,
                        new BufferDescriptor(0x556e_d05c_3000L, 0xfd5, 2),
                        new BufferDescriptor(0x7fcb_48fb_8000L, 0x1069, 0x8_0000)));
        assertThat(read(RIOSTREAM).mappingEntries()).isOne();
    }

    @Test
    void goldenBytesAreEncoded() {
        assertThat(read(RSTREAM).toByteArray()).isEqualTo(RSTREAM);
        assertThat(read(RIOSTREAM).toByteArray()).isEqualTo(RIOSTREAM);
    }

    @Test
    void bytesAfterTheDataAreIgnored() {
        byte[] privateData = Arrays.copyOf(RSTREAM, 196);
        Arrays.fill(privateData, RSTREAM.length, privateData.length, (byte) 0xa5);
        assertThat(read(privateData)).isEqualTo(read(RSTREAM));
    }

    @Test
    void everyTruncationIsRejected() {
        for (int length = 0; length < ConnectData.LENGTH; length++) {
            assertThat(ConnectData.parse(Arrays.copyOf(RSTREAM, length))).isNull();
        }
    }

    @Test
    void everyOtherVersionIsRejected() {
        for (int version = 0; version < 256; version++) {
            byte[] bytes = RSTREAM.clone();
            bytes[0] = (byte) version;
            assertThat(ConnectData.parse(bytes) != null)
                    .as("version %d", version)
                    .isEqualTo(version == 1);
        }
    }

    @Test
    void everyBitSurvivesOrIsReserved() {
        for (int bit = 8; bit < ConnectData.LENGTH * 8; bit++) {
            byte[] changed = RSTREAM.clone();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            int at = bit / 8;
            boolean reserved = at == 1 && bit % 8 > 1 || at >= 4 && at <= 6;
            assertThat(read(changed).toByteArray())
                    .as("byte %d, bit %d", at, bit % 8)
                    .isEqualTo(reserved ? RSTREAM : changed);
        }
    }

    @Test
    void anyDataSurviveEncodingAndDecoding() {
        Random random = new Random(7);
        byte[] any = new byte[ConnectData.LENGTH];
        for (int run = 0; run < 1000; run++) {
            random.nextBytes(any);
            any[0] = ConnectData.VERSION;
            ConnectData data = read(any);
            assertThat(read(data.toByteArray())).isEqualTo(data);
        }
    }

    @Test
    void flagsAreTheByteOrderAndTheMapping() {
        ConnectData data = read(RSTREAM);
        assertThat(data.bigEndian()).isFalse();
        assertThat(data.mapping()).isTrue();
        byte[] bytes = new ConnectData(true, false, 1, 0, data.table(), data.buffer()).toByteArray();
        assertThat(bytes[1]).isEqualTo((byte) 1);
        assertThat(read(bytes).bigEndian()).isTrue();
        assertThat(read(bytes).mapping()).isFalse();
    }

    @Test
    void creditsAreUnsigned() {
        ConnectData data = read(RSTREAM);
        ConnectData most = new ConnectData(false, true, 0xffff, 0, data.table(), data.buffer());
        assertThat(read(most.toByteArray()).credits()).isEqualTo(0xffff);
    }

    /** A number up to 128 is encoded as itself, a greater one as a multiple of 256. */
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "128, 128",
        "129, 256",
        "256, 256",
        "257, 512",
        "32512, 32512",
        "32513, 32512",
        "65534, 32512"
    })
    void mappingEntriesAreRoundedUpToAnEncodableNumberUpTo32512(int requested, int entries) {
        assertThat(ConnectData.scaled(requested)).isEqualTo(entries);
        ConnectData data = read(RSTREAM);
        ConnectData encoded = new ConnectData(false, true, 1, requested, data.table(), data.buffer());
        assertThat(read(encoded.toByteArray()).mappingEntries()).isEqualTo(entries);
    }
}
