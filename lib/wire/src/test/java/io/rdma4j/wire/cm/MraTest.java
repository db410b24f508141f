package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture noans #5, the response to a retransmitted REQ. */
class MraTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "92011ff1 840f3ce3 00 c0";
    }

    @Override
    protected CmMessage header() {
        return new Mra(0x9201_1ff1, 0x840f_3ce3, Mra.MESSAGE_REQ, 24, PrivateData.EMPTY);
    }

    @Override
    protected int length() {
        return CmMad.BODY_LENGTH;
    }

    @Override
    protected String reserved() {
        return "8:3f 9:07";
    }

    @Override
    protected CmMessage parse(MemorySegment s, long at) {
        return CmMessage.parseBody(CmAttribute.MRA, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.MRA.privateDataLength();
        assertThat(capacity).isEqualTo(222);
        assertThat(header().attribute()).isEqualTo(CmAttribute.MRA);
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
        return new Mra(1, 2, 3, 4, data);
    }
}
