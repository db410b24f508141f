package io.rdma4j.wire.dissector;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.Captures;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.cm.Apr;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Lap;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DissectorTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        all | 1 | 10.88.0.1 > 10.88.0.2 CM REQ id 0x960f3ce3 service tcp:7471 qp 0x19 psn 6604818 depths 4/4 retries 3/7 mtu 1024 from 10.88.0.1:54567 to 10.88.0.2
        all | 2 | 10.88.0.2 > 10.88.0.1 CM REP id 0x83011ff1 remote-id 0x960f3ce3 qp 0x19 psn 1909310 depths 4/4 rnr-retries 7
        all | 3 | 10.88.0.1 > 10.88.0.2 CM RTU id 0x960f3ce3 remote-id 0x83011ff1
        all | 4 | 10.88.0.2 > 10.88.0.1 RC_SEND_ONLY qp 0x19 psn 6604818 ackreq len 4
        all | 5 | 10.88.0.1 > 10.88.0.2 RC_ACKNOWLEDGE qp 0x19 psn 6604818 ack msn 1 len 0
        all | 8 | 10.88.0.1 > 10.88.0.2 RC_SEND_ONLY_IMMEDIATE qp 0x19 psn 1909311 ackreq se imm 0xcafe0001 len 0
        all | 10 | 10.88.0.1 > 10.88.0.2 RC_WRITE_FIRST qp 0x19 psn 1909312 va 0x555f04ac5000 rkey 0x1021 dmalen 3000 len 1024
        all | 11 | 10.88.0.1 > 10.88.0.2 RC_WRITE_MIDDLE qp 0x19 psn 1909313 len 1024
        all | 12 | 10.88.0.1 > 10.88.0.2 RC_WRITE_LAST qp 0x19 psn 1909314 ackreq len 952
        all | 14 | 10.88.0.1 > 10.88.0.2 RC_WRITE_ONLY_IMMEDIATE qp 0x19 psn 1909315 ackreq va 0x555f04ac5000 rkey 0x1021 dmalen 10 imm 0xcafe0002 len 10
        all | 16 | 10.88.0.1 > 10.88.0.2 RC_WRITE_ONLY qp 0x19 psn 1909316 ackreq va 0x1234 rkey 0x5678 dmalen 0 len 0
        all | 18 | 10.88.0.1 > 10.88.0.2 RC_READ_REQUEST qp 0x19 psn 1909317 ackreq va 0x555f04ac5000 rkey 0x1021 dmalen 5000 len 0
        all | 19 | 10.88.0.2 > 10.88.0.1 RC_READ_RESPONSE_FIRST qp 0x19 psn 1909317 ack msn 6 len 1024
        all | 20 | 10.88.0.2 > 10.88.0.1 RC_READ_RESPONSE_MIDDLE qp 0x19 psn 1909318 len 1024
        all | 23 | 10.88.0.2 > 10.88.0.1 RC_READ_RESPONSE_LAST qp 0x19 psn 1909321 ack msn 6 len 904
        all | 25 | 10.88.0.2 > 10.88.0.1 RC_READ_RESPONSE_ONLY qp 0x19 psn 1909322 ack msn 7 len 0
        all | 26 | 10.88.0.1 > 10.88.0.2 RC_FETCH_ADD qp 0x19 psn 1909323 ackreq va 0x555f04ac5000 rkey 0x1021 add 0x102030405060708 len 0
        all | 27 | 10.88.0.2 > 10.88.0.1 RC_ATOMIC_ACKNOWLEDGE qp 0x19 psn 1909323 ack msn 8 original 0x706050403020100 len 0
        all | 28 | 10.88.0.1 > 10.88.0.2 RC_COMPARE_SWAP qp 0x19 psn 1909324 ackreq va 0x555f04ac5000 rkey 0x1021 compare 0x1111 swap 0x2222 len 0
        all | 34 | 10.88.0.1 > 10.88.0.2 RC_SEND_ONLY_INVALIDATE qp 0x19 psn 1909327 ackreq inv 0x80001b4 len 4
        all | 37 | 10.88.0.2 > 10.88.0.1 RC_ACKNOWLEDGE qp 0x19 psn 1909328 nak remote-access-error msn 12 len 0
        all | 38 | 10.88.0.1 > 10.88.0.2 CM DREQ id 0x960f3ce3 remote-id 0x83011ff1 remote-qp 0x19
        all | 39 | 10.88.0.2 > 10.88.0.1 CM DREP id 0x83011ff1 remote-id 0x960f3ce3
        badlen | 4 | 10.88.0.1 > 10.88.0.2 RC_SEND_FIRST qp 0x1c psn 1905248 len 1024
        badlen | 5 | 10.88.0.1 > 10.88.0.2 RC_SEND_LAST qp 0x1c psn 1905249 ackreq len 976
        badlen | 6 | 10.88.0.2 > 10.88.0.1 RC_ACKNOWLEDGE qp 0x1d psn 1905249 nak remote-operational-error msn 0 len 0
        cmfuzz | 3 | 10.88.0.254 > 10.88.0.2 CM REJ id 0x3b85c86d remote-id 0x87e05fc3 of REP reason 28 (consumer reject: the application rejected the connection)
        cmfuzz | 5 | 10.88.0.2 > 10.88.0.254 CM REJ id 0x0 remote-id 0x3b85c86e of REQ reason 8 (invalid service ID: no listener)
        cmfuzz | 6 | 10.88.0.254 > 10.88.0.2 CM REQ id 0x3b85c86f service udp:7174 qp 0x5dc27 psn 1193046 depths 1/1 retries 7/7 mtu 1024 from 10.88.0.254:40000 to 10.88.0.2
        cmfuzz | 10 | 10.88.0.2 > 10.88.0.254 CM REJ id 0x0 remote-id 0x3b85c871 of REQ reason 12 (invalid primary remote port GID)
        cmfuzz | 29 | 10.88.0.254 > 10.88.0.2 CM REQ id 0x3b85c879 service tcp:7174 qp 0x5dc31 psn 1193046 depths 1/1 retries 7/7 mtu 1024 no-ip-header
        cmfuzz | 30 | 10.88.0.2 > 10.88.0.254 CM REJ id 0x0 remote-id 0x3b85c879 of REQ reason 28 (consumer reject: the application rejected the connection)
        cmfuzz | 33 | 10.88.0.254 > 10.88.0.2 CM REQ id 0x3b85c87b service tcp:7174 qp 0x5dc33 psn 1193046 depths 1/1 retries 7/7 mtu 1024 from [::a58:fe]:40000 to ::a58:2
        cmfuzz | 50 | 10.88.0.254 > 10.88.0.2 CM REQ id 0x3b85c882 service tcp:7174 qp 0x5dc3a psn 1193046 depths 1/1 retries 7/7 mtu-code 0 from 10.88.0.254:40000 to 10.88.0.2
        cmfuzz | 62 | 10.88.0.2 > 10.88.0.254 CM REJ id 0x0 remote-id 0x3b85c887 of REQ reason 18 (invalid alternate remote port GID)
        cmfuzz | 69 | 10.88.0.254 > 10.88.0.2 MAD NOT_CM len 256
        cmfuzz | 71 | 10.88.0.254 > 10.88.0.2 MAD BAD_METHOD len 256
        cmfuzz | 75 | 10.88.0.254 > 10.88.0.2 MAD BAD_LENGTH len 200
        cmfuzz | 81 | 10.88.0.254 > 10.88.0.2 CM REQ id 0x3b85c890 service tcp:7174 qp 0x5dc48 psn 1193046 depths 1/1 retries 7/7 mtu 1024 from 10.88.0.254:40000 to 10.88.0.2 qkey 0x1234567
        cmfuzz | 82 | 10.88.0.254 > 10.88.0.2 CM REQ id 0x3b85c891 service tcp:7174 qp 0x5dc49 psn 1193046 depths 1/1 retries 7/7 mtu 1024 from 10.88.0.254:40000 to 10.88.0.2 pkey 0x7fff
        cmfuzz | 89 | 10.88.0.2 > 10.88.0.254 CM REJ id 0x0 remote-id 0x3b85c893 of REQ reason 10 (stale connection)
        inject | 11 | 10.88.0.1 > 10.88.0.2 RC_SEND_ONLY qp 0x14 psn 8813653 len 4
        inject | 14 | 10.88.0.2 > 10.88.0.1 RC_ACKNOWLEDGE qp 0x16 psn 8813655 nak psn-sequence-error msn 2 len 0
        inject | 17 | 10.88.0.1 > 10.88.0.2 RC_SEND_ONLY qp 0x14 psn 8813655 ackreq pkey 0x7fff len 4
        inject | 22 | 10.88.0.1 > 10.88.0.2 RC_SEND_ONLY qp 0x14 psn 8813657 ackreq se len 0
        inject | 48 | 10.88.0.1 > 10.88.0.2 unreadable UNKNOWN_OPCODE opcode 0x15 bytes 16
        inject | 49 | 10.88.0.1 > 10.88.0.2 UD_SEND_ONLY qp 0x14 psn 8813664 ackreq qkey 0x0 srcqp 0x0 len 0
        inject | 50 | 10.88.0.1 > 10.88.0.2 RC_WRITE_FIRST qp 0x14 psn 8813664 ackreq va 0x56434fab4000 rkey 0x5e4 dmalen 1500 len 1024
        inject | 53 | 10.88.0.2 > 10.88.0.1 RC_ACKNOWLEDGE qp 0x16 psn 8813665 nak invalid-request msn 9 len 0
        mckey | 7 | 10.88.0.1 > 224.0.55.1 UD_SEND_ONLY_IMMEDIATE qp 0xffffff psn 0 qkey 0x1234567 srcqp 0x16 imm 0x16 len 100
        noans | 5 | 10.88.0.2 > 10.88.0.1 CM MRA id 0x92011ff1 remote-id 0x840f3ce3 of REQ service-timeout 24
        rcpp | 15 | 10.88.0.1 > 10.88.0.2 RC_SEND_MIDDLE qp 0x13 psn 12585844 len 1024
        rnr | 5 | 10.88.0.2 > 10.88.0.1 RC_ACKNOWLEDGE qp 0x1b psn 5684951 rnr-nak 655.36ms msn 0 len 0
        rping6 | 3 | fe80::5054:ff:fe88:1 > fe80::5054:ff:fe88:2 CM REQ id 0x9f0f3ce3 service tcp:7174 qp 0x21 psn 3540134 depths 1/1 retries 7/7 mtu 1024 from [fe80::5054:ff:fe88:1]:44907 to fe80::5054:ff:fe88:2
        uc | 13 | 10.88.0.1 > 10.88.0.2 UC_SEND_FIRST qp 0x12 psn 8130876 len 1024
        uc | 14 | 10.88.0.1 > 10.88.0.2 UC_SEND_MIDDLE qp 0x12 psn 8130877 len 1024
        uc | 15 | 10.88.0.1 > 10.88.0.2 UC_SEND_LAST qp 0x12 psn 8130878 len 952
        ud | 1 | 10.88.0.1 > 10.88.0.2 CM SIDR_REQ request 0x9b0f3ce3 service udp:7471 from 10.88.0.1:49107 to 10.88.0.2
        ud | 2 | 10.88.0.2 > 10.88.0.1 CM SIDR_REP request 0x9b0f3ce3 service udp:7471 status 0 qp 0x1b qkey 0x1234567
        ud | 3 | 10.88.0.1 > 10.88.0.2 UD_SEND_ONLY qp 0x1b psn 0 se qkey 0x1234567 srcqp 0x1c len 6
        ud | 4 | 10.88.0.1 > 10.88.0.2 UD_SEND_ONLY_IMMEDIATE qp 0x1b psn 1 se qkey 0x1234567 srcqp 0x1c imm 0x11223344 len 7
        """)
    void aFrameIsFormattedAsOneLine(String file, int number, String line) {
        assertThat(Dissector.line(Captures.frame(file, number).frame())).isEqualTo(line);
    }

    @ParameterizedTest
    @CsvSource({
        "0x1f, ack",
        "0x00, ack credits 0",
        "0x1e, ack credits 30",
        "0x20, rnr-nak 655.36ms",
        "0x21, rnr-nak 0.01ms",
        "0x2e, rnr-nak 1.28ms",
        "0x3f, rnr-nak 491.52ms",
        "0x40, syndrome 0x40",
        "0x60, nak psn-sequence-error",
        "0x61, nak invalid-request",
        "0x62, nak remote-access-error",
        "0x63, nak remote-operational-error",
        "0x64, syndrome 0x64",
        "0xff, syndrome 0xff"
    })
    void aSyndromeIsFormattedAsText(String syndrome, String text) {
        assertThat(Dissector.syndrome(Integer.decode(syndrome))).isEqualTo(text);
    }

    @Test
    void messagesThatNoCaptureHasAreFormatted() {
        PrivateData none = PrivateData.EMPTY;
        assertThat(cmLine(new Lap(1, 2, 3, 20, CmPath.NONE, none)))
                .isEqualTo("CM LAP id 0x1 remote-id 0x2 remote-qp 0x3");
        assertThat(cmLine(new Apr(1, 2, 0, 5, none, none))).isEqualTo("CM APR id 0x1 remote-id 0x2 status 5");
        assertThat(cmLine(new Mra(1, 2, Mra.MESSAGE_LAP, 19, none)))
                .isEqualTo("CM MRA id 0x1 remote-id 0x2 of LAP service-timeout 19");
        assertThat(cmLine(new Rej(0, 0, Rej.MESSAGE_OTHER, 34, 0, none, none)))
                .isEqualTo("CM REJ id 0x0 remote-id 0x0 of other reason 34 (reserved reason)");
        assertThat(cmLine(new Rej(0, 0, 3, 1, 0, none, none)))
                .isEqualTo("CM REJ id 0x0 remote-id 0x0 of message 3 reason 1 (no QP available)");
        assertThat(cmLine(Req.builder().pathMtu(6).serviceId(0xabcdL << 32).build()))
                .isEqualTo(
                        "CM REQ id 0x0 service 0xabcd00000000 qp 0x0 psn 0 depths 0/0 retries 7/7 mtu-code 6 no-ip-header");
    }

    @Test
    void extendedConnectionsAreMarkedAtTheirQueuePairNumber() {
        assertThat(cmLine(Req.builder().localQueuePair(7).extended().build())).contains(" xrc-qp 0x7 ");
        Rep reply = Rep.builder()
                .communicationIds(1, 2)
                .localQueuePair(8)
                .startingPsn(9)
                .responderResources(1)
                .initiatorDepth(1)
                .targetAcknowledgeDelay(15)
                .build();
        assertThat(cmLine(reply)).contains(" remote-id 0x2 qp 0x8 ");
        assertThat(cmLine(reply.extended())).contains(" remote-id 0x2 xrc-qp 0x8 ");
    }

    @Test
    void anUnknownAttributeIsShownAsANumber() {
        byte[] mad = mad(new Apr(1, 2, 0, 0, PrivateData.EMPTY, PrivateData.EMPTY));
        mad[17] = 0x1b;
        assertThat(Dissector.cmLine(MemorySegment.ofArray(mad), 0, mad.length))
                .isEqualTo("MAD UNKNOWN_ATTRIBUTE 0x1b len 256");
    }

    @Test
    void flushAndAtomicWriteAreFormatted() {
        byte[] flush = HexFormat.of()
                .parseHex("1c00ffff00000022" + "80001000" + "00000001" + "0000700000000010" + "00000569" + "00000040"
                        + "00000000");
        assertThat(Dissector.line(frameOf(flush)))
                .isEqualTo(
                        ":: > :: RC_FLUSH qp 0x22 psn 4096 ackreq global range va 0x700000000010 rkey 0x569 dmalen 64"
                                + " len 0");
        flush[15] = 0x12;
        assertThat(Dissector.line(frameOf(flush))).contains(" persistent region va ");
        flush[15] = 0x2f;
        assertThat(Dissector.line(frameOf(flush))).contains(" global persistent placement 0xf selectivity 2 va ");
        byte[] write = HexFormat.of()
                .parseHex("1d00ffff00000022" + "80001001" + "0000700000000010" + "00000569" + "00000008"
                        + "0102030405060708" + "00000000");
        assertThat(Dissector.line(frameOf(write)))
                .isEqualTo(
                        ":: > :: RC_ATOMIC_WRITE qp 0x22 psn 4097 ackreq va 0x700000000010 rkey 0x569 dmalen 8 len 8");
    }

    @Test
    void unreadableFramesAreFormattedAsOneLine() {
        assertThat(Dissector.line(frameOf(new byte[0]))).isEqualTo(":: > :: unreadable TOO_SHORT bytes 0");
        assertThat(Dissector.line(frameOf(new byte[15])))
                .isEqualTo(":: > :: unreadable TOO_SHORT opcode RC_SEND_FIRST bytes 15");
        byte[] read = new byte[20];
        read[0] = 0x0c;
        assertThat(Dissector.line(frameOf(read)))
                .isEqualTo(":: > :: unreadable TRUNCATED opcode RC_READ_REQUEST bytes 20");
        read[1] = 1;
        assertThat(Dissector.line(frameOf(read)))
                .isEqualTo(":: > :: unreadable BAD_VERSION opcode RC_READ_REQUEST bytes 20");
    }

    @Test
    void anyBytesGiveOneLine() {
        Random random = new Random(11);
        for (int run = 0; run < 20_000; run++) {
            byte[] bytes = new byte[run % 2 == 0 ? random.nextInt(80) : 280];
            random.nextBytes(bytes);
            if (bytes.length == 280) {
                byte[] good = Captures.frame("rej", 6).bytes();
                System.arraycopy(good, 0, bytes, 0, 36);
                bytes[37] = (byte) (0x10 + run % 12);
                bytes[36] = 0;
            } else if (bytes.length > 1) {
                bytes[1] &= (byte) 0xf0;
            }
            assertThat(Dissector.line(frameOf(bytes))).doesNotContain("\n").hasSizeBetween(10, 300);
        }
    }

    private static String cmLine(CmMessage message) {
        return Dissector.cmLine(MemorySegment.ofArray(mad(message)), 0, CmMad.LENGTH);
    }

    private static byte[] mad(CmMessage message) {
        byte[] mad = new byte[CmMad.LENGTH];
        message.emit(MemorySegment.ofArray(mad), 0, 0);
        return mad;
    }

    private static Frame frameOf(byte[] bytes) {
        Frame frame = new Frame();
        frame.segment = MemorySegment.ofArray(bytes);
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.length = bytes.length;
        return frame;
    }
}
