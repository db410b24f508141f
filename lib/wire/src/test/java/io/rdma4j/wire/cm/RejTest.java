package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.Captures;
import io.rdma4j.wire.HeaderLaws;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture cmfuzz #10, an invalid GID with the valid one in the additional information. */
class RejTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "00000000 3b85c871 00 20 000c fe80000000000000505400fffe880002";
    }

    @Override
    protected CmMessage header() {
        return Rej.of(
                0,
                0x3b85_c871,
                Rej.MESSAGE_REQ,
                RejectReason.INVALID_GID,
                PrivateData.of(HexFormat.of().parseHex("fe80000000000000505400fffe880002")),
                PrivateData.EMPTY);
    }

    @Override
    protected int length() {
        return CmMad.BODY_LENGTH;
    }

    @Override
    protected String reserved() {
        return "8:3f 9:01";
    }

    @Override
    protected CmMessage parse(MemorySegment s, long at) {
        return CmMessage.parseBody(CmAttribute.REJ, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.REJ.privateDataLength();
        assertThat(capacity).isEqualTo(148);
        assertThat(header().attribute()).isEqualTo(CmAttribute.REJ);
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
        return Rej.of(1, 2, Rej.MESSAGE_REP, RejectReason.CONSUMER_DEFINED, data);
    }

    @Test
    void aRejectOfAnApplicationIsParsed() {
        Packet packet = new Packet();
        assertThat(packet.parse(Captures.frame("rej", 6).frame())).isEqualTo(Packet.Result.OK);
        PrivateData nope = PrivateData.of("NOPE".getBytes(StandardCharsets.US_ASCII));
        assertThat(CmMessage.parse(packet.segment(), packet.payloadOffset(), packet.payloadLength()))
                .isEqualTo(Rej.of(0x8101_1ff1, 0x990f_3ce3, Rej.MESSAGE_REQ, RejectReason.CONSUMER_DEFINED, nope));
    }

    @Test
    void aTimeoutCarriesTheCaGuid() {
        Rej rej = Rej.timeout(0x55, Rej.MESSAGE_OTHER, 0x0102_0304_0506_0708L);
        MemorySegment s = scratch();
        rej.emitBody(s, 0);
        assertThat(hex(s)).startsWith("00000055" + "00000000" + "80" + "10" + "0004" + "0102030405060708" + "00");
        assertThat(((Rej) parse(s, 0)).informationGuid()).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(((Rej) with(PrivateData.EMPTY)).informationGuid()).isZero();
    }

    @Test
    void additionalInformationIsBoundedByTheField() {
        assertThatThrownBy(() -> new Rej(1, 2, 0, 1, 73, PrivateData.of(new byte[73]), PrivateData.EMPTY))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("73 bytes");
    }

    @Test
    void everyReasonKeepsItsNumber() {
        for (int number = 0; number < 0x10000; number++) {
            Rej rej = new Rej(1, 2, 0, number, 0, PrivateData.EMPTY, PrivateData.EMPTY);
            RejectReason reason = RejectReason.ofCode(number).orElse(null);
            boolean known = number >= 1 && number <= 35 && number != 34;
            assertThat(reason != null).as("reason %d", number).isEqualTo(known);
            assertThat(reason == null ? number : reason.code()).isEqualTo(number);
            if (number < 64 || number > 0xfff0) {
                MemorySegment s = scratch();
                rej.emitBody(s, 0);
                assertThat(parse(s, 0)).isEqualTo(rej);
            }
        }
        assertThat(RejectReason.ofCode(-1)).isEmpty();
        assertThat(RejectReason.TIMEOUT.meaning()).isEqualTo("timeout");
    }

    @Test
    void reasonsAreDescribedEvenIfReserved() {
        assertThat(Rej.timeout(1, Rej.MESSAGE_REQ, 2).reasonText()).isEqualTo("4 (timeout)");
        assertThat(new Rej(1, 2, 0, 34, 0, PrivateData.EMPTY, PrivateData.EMPTY).reasonText())
                .isEqualTo("34 (reserved reason)");
    }
}
