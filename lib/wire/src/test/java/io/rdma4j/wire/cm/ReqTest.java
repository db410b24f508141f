package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture rstream #1, with a REQ that requests end-to-end flow control and carries private data. */
class ReqTest extends HeaderLaws<CmMessage> {
    @Override
    protected String golden() {
        return "970f3ce3 00000000 0000000001061d2f 505400fffe880001 00000000 00000000"
                + "000018 00 000000 00 000000 a1 390548 a7 ffff 37 f0"
                + "ffff ffff 00000000000000000000ffff0a580001 00000000000000000000ffff0a580002 6321500 0 00 40 00 98"
                + "0000 0000 00000000000000000000000000000000 00000000000000000000000000000000 00000000 00 00 00 00"
                + "0040b65a0000000000000000000000000a5800010000000000000000000000000a580002"
                + "01020180000000000000556ed05c300000000fd50000000200007fcb48fb8000000010690008";
    }

    @Override
    protected CmMessage header() {
        return Req.builder()
                .localCommunicationId(0x970f_3ce3)
                .serviceId(PortSpace.TCP.serviceId(7471))
                .localCaGuid(0x5054_00ff_fe88_0001L)
                .localQueuePair(0x18)
                .endToEndFlowControl(true)
                .startingPsn(0x39_0548)
                .primaryPath(CmPath.roce(Gid.ofIpv4(0x0a58_0001), Gid.ofIpv4(0x0a58_0002), 0x6_3215, 0, 64, 19))
                .privateData(new IpCmHeader(Gid.ofIpv4(0x0a58_0001), 0xb65a, Gid.ofIpv4(0x0a58_0002)).with(RSOCKET))
                .build();
    }

    @Override
    protected int length() {
        return CmMad.BODY_LENGTH;
    }

    @Override
    protected String reserved() {
        return "4:ff 18:ff 19:ff 1a:ff 1b:ff 5a:0f 5b:c0 5e:07 5f:07 86:0f 87:c0 8a:07 8b:03";
    }

    @Override
    protected CmMessage parse(MemorySegment s, long at) {
        return CmMessage.parseBody(CmAttribute.REQ, s, at, 0);
    }

    @Override
    protected void emit(CmMessage header, MemorySegment s, long at) {
        header.emitBody(s, at);
    }

    @Test
    void privateDataAreZeroPaddedAndBoundedByTheField() {
        int capacity = CmAttribute.REQ.privateDataLength();
        assertThat(capacity).isEqualTo(92);
        assertThat(header().attribute()).isEqualTo(CmAttribute.REQ);
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

    @Test
    void requestsWithoutAlternatePathShareOneInstance() {
        MemorySegment s = scratch();
        header().emitBody(s, 0);
        assertThat(parse(s, 0)).isInstanceOfSatisfying(Req.class, req -> {
            assertThat(req.alternatePath()).isSameAs(CmPath.NONE);
            assertThat(req.hasAlternatePath()).isFalse();
        });
    }

    private static CmMessage with(PrivateData data) {
        return Req.builder().privateData(data).build();
    }

    private static final PrivateData RSOCKET = PrivateData.of(
            HexFormat.of().parseHex("01020180000000000000556ed05c300000000fd50000000200007fcb48fb8000000010690008"));

    @Test
    void everyFieldIsEncodedAtItsOffset() {
        CmPath primary = new CmPath(1, 2, new Gid(3, 4), new Gid(5, 6), 0xf_fff1, 7, 8, 9, 10, true, 11);
        CmPath alternate = new CmPath(12, 13, new Gid(14, 15), new Gid(16, 17), 0x12345, 0x3f, 19, 20, 5, false, 22);
        Req req = new Req(
                1,
                2,
                0,
                3,
                4,
                5,
                6,
                7,
                8,
                9,
                10,
                11,
                3,
                false,
                13,
                14,
                5,
                16,
                6,
                true,
                4,
                9,
                true,
                7,
                primary,
                alternate,
                true,
                PrivateData.of((byte) 99));
        MemorySegment s = scratch();
        req.emitBody(s, 0);
        assertThat(hex(s).replaceAll("(00)+$", ""))
                .isEqualTo("00000001" + "00000002" + "0000000000000003" + "0000000000000004" + "00000000" + "00000005"
                        + "00000607" + "00000809" + "00000a5e" + "00000d75" + "00106c9f"
                        + "00010002" + "00000000000000030000000000000004" + "00000000000000050000000000000006"
                        + "ffff1007" + "0809a858"
                        + "000c000d" + "000000000000000e000000000000000f" + "00000000000000100000000000000011"
                        + "1234503f" + "131450b4" + "63");
        assertThat(parse(s, 0)).isEqualTo(req);
        assertThat(req.hasAlternatePath()).isTrue();
        assertThat(Req.builder().build().hasAlternatePath()).isFalse();
    }

    @Test
    void valuesAreTruncatedToTheirFields() {
        Req req = Req.builder()
                .transportType(-1)
                .retryCount(-1)
                .rnrRetryCount(-1)
                .pathMtu(-1)
                .maxCmRetries(-1)
                .extendedTransportType(-1)
                .localQueuePair(-1)
                .startingPsn(-1)
                .partitionKey(-1)
                .remoteResponseTimeout(-1)
                .localResponseTimeout(-1)
                .responderResources(-1)
                .initiatorDepth(-1)
                .build();
        MemorySegment s = scratch();
        req.emitBody(s, 0);
        Req truncated = (Req) parse(s, 0);
        assertThat(truncated)
                .isEqualTo(Req.builder()
                        .transportType(3)
                        .retryCount(7)
                        .rnrRetryCount(7)
                        .pathMtu(15)
                        .maxCmRetries(15)
                        .extendedTransportType(7)
                        .localQueuePair(0xff_ffff)
                        .startingPsn(0xff_ffff)
                        .partitionKey(0xffff)
                        .remoteResponseTimeout(31)
                        .localResponseTimeout(31)
                        .responderResources(255)
                        .initiatorDepth(255)
                        .build());
    }

    @Test
    void anExtendedConnectionHasItsTransportInTwoFieldsAndNoResponderParameters() {
        Req req = Req.builder()
                .localQueuePair(0x18)
                .responderResources(4)
                .initiatorDepth(5)
                .sharedReceiveQueue(true)
                .extended()
                .build();
        MemorySegment s = scratch();
        req.emitBody(s, 0);
        assertThat(hex(s).substring(2 * 32, 2 * 52))
                .as("queue pair, depths 0 and 5, transport 3, no retries, extended transport 1 without SRQ")
                .isEqualTo("00001800" + "00000005" + "000000a6" + "000000a0" + "ffff30f1");
        assertThat(((Req) parse(s, 0)).isExtended()).isTrue();
        assertThat(Req.builder().transportType(Req.TRANSPORT_EXTENDED).build().isExtended())
                .as("another extended transport")
                .isFalse();
        assertThat(Req.builder().extendedTransportType(Req.EXTENDED_XRC).build().isExtended())
                .isFalse();
    }

    @Test
    void theApplicationHas56BytesAfterTheIpCmHeader() {
        assertThat(Req.USER_PRIVATE_DATA_LENGTH).isEqualTo(56);
    }
}
