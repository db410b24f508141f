package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture rping #5. */
class RepTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "8f011ff1 910f3ce3 00000000 000011 00 000000 00 3f8f7d 00 01 01 78 e0 505400fffe880002";
    }

    @Override
    protected CmMessage header() {
        return Rep.builder()
                .communicationIds(0x8f01_1ff1, 0x910f_3ce3)
                .localQueuePair(0x11)
                .startingPsn(0x3f_8f7d)
                .responderResources(1)
                .initiatorDepth(1)
                .targetAcknowledgeDelay(15)
                .localCaGuid(0x5054_00ff_fe88_0002L)
                .build();
    }

    @Override
    protected int length() {
        return CmMad.BODY_LENGTH;
    }

    @Override
    protected String reserved() {
        return "1b:0f";
    }

    @Override
    protected CmMessage parse(MemorySegment s, long at) {
        return CmMessage.parseBody(CmAttribute.REP, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.REP.privateDataLength();
        assertThat(capacity).isEqualTo(196);
        assertThat(header().attribute()).isEqualTo(CmAttribute.REP);
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
        return Rep.builder()
                .communicationIds(1, 2)
                .localQueuePair(3)
                .startingPsn(4)
                .responderResources(5)
                .initiatorDepth(6)
                .targetAcknowledgeDelay(7)
                .endToEndFlowControl(true)
                .rnrRetryCount(3)
                .sharedReceiveQueue(true)
                .localCaGuid(8)
                .privateData(data)
                .build();
    }

    @Test
    void everyFieldIsEncodedAtItsOffset() {
        Rep rep = new Rep(1, 2, 3, 4, 0xaabbcc, 0, 5, 6, 7, 8, 9, 2, true, 5, true, 10, PrivateData.of((byte) 99));
        MemorySegment s = scratch();
        rep.emitBody(s, 0);
        assertThat(hex(s))
                .startsWith("00000001" + "00000002" + "00000003" + "000004aa" + "000005bb" + "000006cc" + "07084db0"
                        + "000000000000000a" + "6300");
        assertThat(parse(s, 0)).isEqualTo(rep);
    }

    @Test
    void theTargetOfAnExtendedConnectionHasItsNumberInTheEndToEndContext() {
        Rep rep = Rep.builder()
                .communicationIds(1, 2)
                .localQueuePair(0x123456)
                .startingPsn(4)
                .responderResources(5)
                .initiatorDepth(6)
                .targetAcknowledgeDelay(7)
                .endToEndFlowControl(true)
                .rnrRetryCount(3)
                .localCaGuid(8)
                .build();
        Rep extended = rep.extended();
        MemorySegment s = scratch();
        extended.emitBody(s, 0);
        assertThat(hex(s))
                .as("no queue pair but an end-to-end context; no initiator depth, no flow control; SRQ")
                .startsWith("00000001" + "00000002" + "00000000" + "00000000" + "12345600" + "00000400" + "05003870");
        Rep read = (Rep) parse(s, 0);
        assertThat(read.queuePair(Req.builder().extended().build())).isEqualTo(0x123456);
        assertThat(rep.queuePair(Req.builder().build())).isEqualTo(0x123456);
    }
}
