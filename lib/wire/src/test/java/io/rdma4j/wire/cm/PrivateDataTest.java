package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class PrivateDataTest {
    @Test
    void inputsAndOutputsAreCopied() {
        byte[] bytes = {1, 2, 3};
        PrivateData data = PrivateData.of(bytes);
        bytes[0] = 9;
        data.toByteArray()[1] = 9;
        MemorySegment memory = MemorySegment.ofArray(new byte[] {1, 2, 3});
        PrivateData read = PrivateData.read(memory, 0, 3);
        memory.fill((byte) 9);
        assertThat(data.toByteArray()).containsExactly(1, 2, 3);
        assertThat(read).isEqualTo(data).hasSameHashCodeAs(data);
    }

    @Test
    void paddingAddsZerosAndNeverTruncates() {
        PrivateData data = PrivateData.of((byte) 1);
        assertThat(data.padded(3).toByteArray()).containsExactly(1, 0, 0);
        assertThat(data.padded(1)).isSameAs(data);
        assertThat(data.padded(3)).isNotEqualTo(data);
        assertThatThrownBy(() -> data.padded(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("private data of 1 bytes, but the field holds at most 0");
    }

    @Test
    void textEndsWithTheLastByteThatIsNotZero() {
        assertThat(PrivateData.of((byte) 0, (byte) 0xab, (byte) 0).toString()).isEqualTo("00ab");
        assertThat(PrivateData.EMPTY.padded(4).toString()).isEmpty();
    }

    @Test
    void partsAreJoinedAndSplit() {
        PrivateData joined = PrivateData.of((byte) 1, (byte) 2).plus(PrivateData.of((byte) 3));
        assertThat(joined.length()).isEqualTo(3);
        assertThat(joined.from(1)).isEqualTo(PrivateData.of((byte) 2, (byte) 3));
        assertThat(joined.from(3)).isEqualTo(PrivateData.EMPTY);
    }
}
