package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture rping #44. */
class DrepTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "8f011ff1 910f3ce3";
    }

    @Override
    protected CmMessage header() {
        return new Drep(0x8f01_1ff1, 0x910f_3ce3, PrivateData.EMPTY);
    }

    @Override
    protected int length() {
        return CmMad.BODY_LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected CmMessage parse(MemorySegment s, long at) {
        return CmMessage.parseBody(CmAttribute.DREP, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.DREP.privateDataLength();
        assertThat(capacity).isEqualTo(224);
        assertThat(header().attribute()).isEqualTo(CmAttribute.DREP);
        assertThatThrownBy(() -> with(PrivateData.of(new byte[capacity + 1])))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining((capacity + 1) + " bytes")
                .hasMessageContaining("at most " + capacity);
        byte[] full = new byte[capacity];
        Arrays.fill(full, (byte) 0x77);
        MemorySegment s = scratch();
        with(PrivateData.of(full)).emitBody(s, 0);
        assertThat(s.asSlice(CmMad.BODY_LENGTH - capacity).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(full);
        assertThat(with(PrivateData.of((byte) 1))).isEqualTo(with(PrivateData.of((byte) 1, (byte) 0)));
    }

    private static CmMessage with(PrivateData data) {
        return new Drep(1, 2, data);
    }
}
