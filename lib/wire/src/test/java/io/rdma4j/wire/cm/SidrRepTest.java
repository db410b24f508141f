package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.PortSpace;
import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture udaddy #3. */
class SidrRepTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "920f3ce3 00 00 0000 000014 00 0000000001111c06 01234567";
    }

    @Override
    protected CmMessage header() {
        return SidrRep.of(
                0x920f_3ce3, SidrRep.STATUS_VALID, 0x14, PortSpace.UDP.serviceId(7174), 0x0123_4567, PrivateData.EMPTY);
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
        return CmMessage.parseBody(CmAttribute.SIDR_REP, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.SIDR_REP.privateDataLength();
        assertThat(capacity).isEqualTo(136);
        assertThat(header().attribute()).isEqualTo(CmAttribute.SIDR_REP);
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
        return SidrRep.of(1, 2, 3, 4, 5, data);
    }

    @Test
    void everyFieldIsEncodedAtItsOffset() {
        SidrRep reply =
                new SidrRep(1, 2, 3, 0xaabbcc, 0, 4, 5, 6, PrivateData.of((byte) 98), PrivateData.of((byte) 99));
        MemorySegment s = scratch();
        reply.emitBody(s, 0);
        assertThat(hex(s))
                .startsWith("00000001" + "0203aabb" + "000004cc" + "0000000000000005" + "00000006" + "62"
                        + "00".repeat(71) + "6300");
        assertThat(parse(s, 0)).isEqualTo(reply);
    }
}
