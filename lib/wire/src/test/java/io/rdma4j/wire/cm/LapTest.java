package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Golden bytes: InfiniBand Architecture volume 1, table 115; no capture has this message, Linux ignores it on RoCE. */
class LapTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "00000001 00000002 00000000 000003 a0 00000000"
                + "000c 000d 000000000000000e000000000000000f 00000000000000100000000000000011 12345 0 13 14 3f 58 b0"
                + "63";
    }

    @Override
    protected CmMessage header() {
        return new Lap(
                1,
                2,
                3,
                20,
                new CmPath(12, 13, new Gid(14, 15), new Gid(16, 17), 0x1_2345, 0x3f, 0x13, 0x14, 5, true, 22),
                PrivateData.of((byte) 0x63));
    }

    @Override
    protected int length() {
        return CmMad.BODY_LENGTH;
    }

    @Override
    protected String reserved() {
        return "8:ff 9:ff a:ff b:ff f:07 10:ff 11:ff 12:ff 13:ff 3a:0f 3d:c0 3e:07 3f:07";
    }

    @Override
    protected CmMessage parse(MemorySegment s, long at) {
        return CmMessage.parseBody(CmAttribute.LAP, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.LAP.privateDataLength();
        assertThat(capacity).isEqualTo(168);
        assertThat(header().attribute()).isEqualTo(CmAttribute.LAP);
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
        return new Lap(1, 2, 3, 4, CmPath.NONE, data);
    }
}
