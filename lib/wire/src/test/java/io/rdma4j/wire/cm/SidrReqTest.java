package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture udaddy #1. */
class SidrReqTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "920f3ce3 ffff 0000 0000000001111c06"
                + "0040c5eb0000000000000000000000000a5800010000000000000000000000000a580002";
    }

    @Override
    protected CmMessage header() {
        return new SidrReq(
                0x920f_3ce3,
                0xffff,
                PortSpace.UDP.serviceId(7174),
                new IpCmHeader(Gid.ofIpv4(0x0a58_0001), 0xc5eb, Gid.ofIpv4(0x0a58_0002)).with(PrivateData.EMPTY));
    }

    @Override
    protected int length() {
        return CmMad.BODY_LENGTH;
    }

    @Override
    protected String reserved() {
        return "6:ff 7:ff";
    }

    @Override
    protected CmMessage parse(MemorySegment s, long at) {
        return CmMessage.parseBody(CmAttribute.SIDR_REQ, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.SIDR_REQ.privateDataLength();
        assertThat(capacity).isEqualTo(216);
        assertThat(header().attribute()).isEqualTo(CmAttribute.SIDR_REQ);
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
        return new SidrReq(1, 2, 3, data);
    }

    @Test
    void theApplicationHas180BytesAfterTheIpCmHeader() {
        assertThat(SidrReq.USER_PRIVATE_DATA_LENGTH).isEqualTo(180);
    }
}
