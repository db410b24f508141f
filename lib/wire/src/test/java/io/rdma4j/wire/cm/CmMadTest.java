package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.RejectReason;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CmMadTest {
    private static final int LOCAL = 0x1111_1111;
    private static final int REMOTE = 0x2222_2222;
    private static final long SERVICE = PortSpace.TCP.serviceId(7174);

    private static final PrivateData NONE = PrivateData.EMPTY;
    private static final List<CmMessage> ONE_OF_EACH = List.of(
            Req.builder().localCommunicationId(LOCAL).serviceId(SERVICE).build(),
            new Mra(LOCAL, REMOTE, 0, 0, NONE),
            Rej.of(LOCAL, REMOTE, 0, RejectReason.TIMEOUT, NONE),
            Rep.builder().communicationIds(LOCAL, REMOTE).rnrRetryCount(0).build(),
            new Rtu(LOCAL, REMOTE, NONE),
            new Dreq(LOCAL, REMOTE, 0, NONE),
            new Drep(LOCAL, REMOTE, NONE),
            new SidrReq(LOCAL, 0xffff, SERVICE, NONE),
            SidrRep.of(LOCAL, 0, 0, SERVICE, 0, NONE),
            new Lap(LOCAL, REMOTE, 0, 0, CmPath.NONE, NONE),
            new Apr(LOCAL, REMOTE, 0, 0, NONE, NONE));

    @Test
    void everyMessageSurvivesEncodingAndDecoding() {
        assertThat(ONE_OF_EACH).hasSameSizeAs(CmAttribute.values());
        for (CmMessage message : ONE_OF_EACH) {
            MemorySegment s = mad(message);
            assertThat(CmMad.check(s, 0, 256)).isEqualTo(CmMad.Result.OK);
            assertThat(CmMessage.parse(s, 0, 256)).isEqualTo(message);
            assertThat(CmMad.attribute(s, 0)).isEqualTo(message.attribute());
            assertThat(CmMad.transactionId(s, 0)).isEqualTo(0x0102_0304_0506_0708L);
        }
    }

    @Test
    void enhancementOptionsAreInTheHeaderAndTheirVendorIsInTheBody() {
        Rep reply =
                Rep.builder().communicationIds(LOCAL, REMOTE).rnrRetryCount(0).build();
        List<CmMessage> messages = List.of(
                Req.builder().enhancement(0x00_02c9, 0x8000_0001).build(),
                reply.withEnhancement(0x00_02c9, 0x8000_0001));
        for (CmMessage message : messages) {
            MemorySegment s = mad(message);
            assertThat(CmMad.attributeModifier(s, 0)).isEqualTo(0x8000_0001);
            assertThat(MadHeader.parse(s, 0).attributeModifier()).isEqualTo(0x8000_0001);
            assertThat(CmMessage.parse(s, 0, 256)).isEqualTo(message);
        }
    }

    @Test
    void routingFieldsAreReadInPlace() {
        for (CmMessage message : ONE_OF_EACH) {
            MemorySegment s = mad(message);
            CmAttribute attribute = message.attribute();
            boolean opens = attribute == CmAttribute.REQ || attribute == CmAttribute.SIDR_REQ;
            boolean answersSidr = attribute == CmAttribute.SIDR_REP;
            assertThat(CmMad.localCommunicationId(s, 0)).isEqualTo(LOCAL);
            assertThat(CmMad.remoteCommunicationId(s, 0))
                    .as("%s", attribute)
                    .isEqualTo(opens || answersSidr ? 0 : REMOTE);
            assertThat(CmMad.receiverId(s, 0)).as("%s", attribute).isEqualTo(opens ? 0 : answersSidr ? LOCAL : REMOTE);
            assertThat(CmMad.serviceId(s, 0)).as("%s", attribute).isEqualTo(opens || answersSidr ? SERVICE : 0);
        }
    }

    @Test
    void everyOtherHeaderIsRejectedWithItsReason() {
        for (int value = 0; value < 256; value++) {
            assertThat(changed(0, value)).isEqualTo(value == 1 ? CmMad.Result.OK : CmMad.Result.NOT_CM);
            assertThat(changed(1, value)).isEqualTo(value == 7 ? CmMad.Result.OK : CmMad.Result.NOT_CM);
            assertThat(changed(2, value)).isEqualTo(value == 2 ? CmMad.Result.OK : CmMad.Result.NOT_CM);
            assertThat(changed(3, value)).isEqualTo(value == 3 ? CmMad.Result.OK : CmMad.Result.BAD_METHOD);
            assertThat(changed(16, value)).isEqualTo(value == 0 ? CmMad.Result.OK : CmMad.Result.UNKNOWN_ATTRIBUTE);
            assertThat(changed(17, value))
                    .isEqualTo(value >= 0x10 && value <= 0x1a ? CmMad.Result.OK : CmMad.Result.UNKNOWN_ATTRIBUTE);
            // The status is not checked, as in Linux.
            assertThat(changed(4, value)).isEqualTo(CmMad.Result.OK);
        }
    }

    @Test
    void everyOtherLengthIsRejectedBeforeAByteIsRead() {
        MemorySegment nothing = MemorySegment.ofArray(new byte[0]);
        for (int length = -1; length < 600; length++) {
            if (length != 256) {
                assertThat(CmMad.check(nothing, 0, length)).isEqualTo(CmMad.Result.BAD_LENGTH);
                assertThat(CmMessage.parse(nothing, 0, length)).isNull();
            }
        }
    }

    @Test
    void attributesAreFoundByTheirIds() {
        for (CmAttribute attribute : CmAttribute.values()) {
            assertThat(CmAttribute.of(attribute.id())).isEqualTo(attribute);
        }
        assertThat(CmAttribute.of(0x0f)).isNull();
        assertThat(CmAttribute.of(0x1b)).isNull();
        assertThat(CmAttribute.of(-1)).isNull();
        assertThat(CmAttribute.of(Integer.MAX_VALUE)).isNull();
        assertThat(CmAttribute.of(Integer.MIN_VALUE)).isNull();
    }

    @Test
    void accessorsOfUnknownMessagesReturnZero() {
        MemorySegment s = mad(ONE_OF_EACH.get(1));
        s.set(ValueLayout.JAVA_BYTE, 17, (byte) 0x30);
        assertThat(CmMad.attribute(s, 0)).isNull();
        assertThat(CmMad.attributeId(s, 0)).isEqualTo(0x30);
        assertThat(CmMad.remoteCommunicationId(s, 0)).isZero();
        assertThat(CmMad.receiverId(s, 0)).isZero();
        assertThat(CmMad.serviceId(s, 0)).isZero();
    }

    @Test
    void anyBytesParseWithoutException() {
        Random random = new Random(5);
        byte[] bytes = new byte[256];
        for (int run = 0; run < 5000; run++) {
            random.nextBytes(bytes);
            MadHeader.of(ONE_OF_EACH.get(run % 11).attribute(), 1, 0).emit(MemorySegment.ofArray(bytes), 0);
            bytes[run % 24] ^= (byte) (run % 3);
            MemorySegment s = MemorySegment.ofArray(bytes);
            CmMessage message = CmMessage.parse(s, 0, 256);
            assertThat(message != null).isEqualTo(CmMad.check(s, 0, 256) == CmMad.Result.OK);
            if (message != null) {
                assertThat(CmMessage.parse(mad(message), 0, 256)).isEqualTo(message);
            }
        }
    }

    @Test
    void serviceIdsAreAPortSpaceAndAPort() {
        assertThat(SERVICE).isEqualTo(0x0106_1c06L);
        assertThat(PortSpace.UDP.serviceId(0xffff)).isEqualTo(0x0111_ffffL);
        assertThat(ServiceId.portSpace(SERVICE)).contains(PortSpace.TCP);
        assertThat(ServiceId.port(SERVICE)).isEqualTo(7174);
        assertThat(ServiceId.toString(SERVICE)).isEqualTo("tcp:7174");
        assertThat(ServiceId.toString(PortSpace.UDP.serviceId(1))).isEqualTo("udp:1");
        assertThat(ServiceId.toString(PortSpace.IB.serviceId(65535))).isEqualTo("ib:65535");
        assertThat(ServiceId.toString(PortSpace.IPOIB.serviceId(0))).isEqualTo("ipoib:0");
        assertThat(ServiceId.toString(1L << 32 | SERVICE)).isEqualTo("0x101061c06");
        assertThat(ServiceId.toString(-1)).isEqualTo("0xffffffffffffffff");
        assertThat(ServiceId.isRdmaCm(SERVICE)).isTrue();
        assertThat(ServiceId.isRdmaCm(0x0107_0000)).isFalse();
        assertThat(ServiceId.isRdmaCm(1L << 63 | SERVICE)).isFalse();
    }

    @Test
    void aPathBetweenRocePortsMatchesLinux() {
        CmPath path = CmPath.roce(Gid.ZERO, Gid.ZERO, 5, 6, 64, 19);
        assertThat(path).isEqualTo(new CmPath(0xffff, 0xffff, Gid.ZERO, Gid.ZERO, 5, 0, 6, 64, 0, false, 19));
        assertThat(CmPath.roce(Gid.ZERO, Gid.ZERO, 5, 6, 1, 19).subnetLocal()).isTrue();
    }

    private static CmMad.Result changed(int at, int value) {
        MemorySegment s = mad(ONE_OF_EACH.get(0));
        s.set(ValueLayout.JAVA_BYTE, at, (byte) value);
        return CmMad.check(s, 0, 256);
    }

    private static MemorySegment mad(CmMessage message) {
        byte[] bytes = new byte[CmMad.LENGTH];
        Arrays.fill(bytes, (byte) 0xa5);
        MemorySegment s = MemorySegment.ofArray(bytes);
        message.emit(s, 0, 0x0102_0304_0506_0708L);
        return s;
    }
}
