package io.rdma4j.wire.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Golden words: the immediate data of the captures rstream and riostream. */
class ControlWordTest {
    @ParameterizedTest
    @CsvSource({
        "000003e8, 0, 1000", // rstream #12: 1000 bytes
        "80000180, 4, 384", // rstream #4: may send up to message 384
        "c0000000, 6, 0", // riostream #6: entry 0 is written
        "e0000000, 7, 0", // rstream #28: disconnects
        "e0000001, 7, 1",
        "e0000002, 7, 2",
        "ffffffff, 7, 536870911"
    })
    void aWordIsAKindAndAValue(String word, int kind, int value) {
        int bits = Integer.parseUnsignedInt(word, 16);
        assertThat(ControlWord.kind(bits)).isEqualTo(kind);
        assertThat(ControlWord.value(bits)).isEqualTo(value);
        assertThat(ControlWord.of(kind, value)).isEqualTo(bits);
    }

    @Test
    void kindsAndControlValuesMatchTheProtocol() {
        assertThat(ControlWord.of(ControlWord.DATA, 1)).isEqualTo(0x0000_0001);
        assertThat(ControlWord.of(ControlWord.CREDIT, 1)).isEqualTo(0x8000_0001);
        assertThat(ControlWord.of(ControlWord.MAPPING, 1)).isEqualTo(0xc000_0001);
        assertThat(ControlWord.of(ControlWord.CONTROL, ControlWord.DISCONNECT)).isEqualTo(0xe000_0000);
        assertThat(ControlWord.of(ControlWord.CONTROL, ControlWord.KEEPALIVE)).isEqualTo(0xe000_0001);
        assertThat(ControlWord.of(ControlWord.CONTROL, ControlWord.SHUTDOWN)).isEqualTo(0xe000_0002);
    }

    @Test
    void everyWordIsComposedOfItsKindAndValue() {
        IntStream.range(0, 32).map(bit -> 1 << bit).forEach(word -> {
            assertThat(ControlWord.of(ControlWord.kind(word), ControlWord.value(word)))
                    .isEqualTo(word);
            assertThat(ControlWord.of(ControlWord.kind(~word), ControlWord.value(~word)))
                    .isEqualTo(~word);
        });
    }

    @Test
    void upperBitsOfTheValueDoNotChangeTheKind() {
        assertThat(ControlWord.of(ControlWord.CREDIT, -1)).isEqualTo(0x9fff_ffff);
    }
}
