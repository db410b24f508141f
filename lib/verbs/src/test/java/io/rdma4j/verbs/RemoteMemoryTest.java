package io.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RemoteMemoryTest {
    private static final RemoteMemory MEMORY = new RemoteMemory(0x1234_5678_9abc_def0L, 0xcafe_0001, 4096);

    @Test
    void decodingRevertsEncoding() {
        assertThat(RemoteMemory.decode(MEMORY.encode())).isEqualTo(MEMORY);
        assertThat(MEMORY.encode()).hasSize(RemoteMemory.ENCODED_BYTES).startsWith(0x12, 0x34, 0x56, 0x78);
    }

    @Test
    void zerosAfterTheEncodingAreIgnored() {
        assertThat(RemoteMemory.decode(Arrays.copyOf(MEMORY.encode(), 196))).isEqualTo(MEMORY);
    }

    @Test
    void tooFewBytesOrANegativeLengthAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteMemory.decode(new byte[19]));
        byte[] negative = MEMORY.encode();
        negative[12] = (byte) 0x80;
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteMemory.decode(negative));
    }

    @Test
    void aSliceLiesWithinTheMemory() {
        assertThat(MEMORY.slice(4088, 8)).isEqualTo(new RemoteMemory(MEMORY.address() + 4088, MEMORY.key(), 8));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> MEMORY.slice(4089, 8));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> MEMORY.slice(-1, 8));
    }

    @Test
    void tooShortMemoryIsRefused() {
        RemoteMemory memory = new RemoteMemory(4096, 7, 64);
        memory.requireLength(64);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> memory.requireLength(65))
                .withMessageContaining("65");
    }
}
