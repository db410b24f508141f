package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture all #37, NAK remote access error. */
class AethTest extends HeaderLaws<Aeth> {
    @Override
    protected String golden() {
        return "6200000c";
    }

    @Override
    protected Aeth header() {
        return new Aeth(Aeth.NAK_REMOTE_ACCESS_ERROR, 12);
    }

    @Override
    protected int length() {
        return Aeth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected Aeth parse(MemorySegment s, long at) {
        return Aeth.parse(s, at);
    }

    @Override
    protected void emit(Aeth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(Aeth.syndrome(s, 0)).isEqualTo(Aeth.NAK_REMOTE_ACCESS_ERROR);
        assertThat(Aeth.messageSequenceNumber(s, 0)).isEqualTo(12);
        MemorySegment written = scratch();
        Aeth.write(written, 0, Aeth.NAK_REMOTE_ACCESS_ERROR, 12);
        assertThat(hex(written)).isEqualTo(hex(s));
    }

    @Test
    void everySyndromeHasOneKindOrIsReserved() {
        for (int syndrome = 0; syndrome < 256; syndrome++) {
            boolean reserved = syndrome >= 0x40 && syndrome < 0x60 || syndrome >= 0x80;
            assertThat(Aeth.isAck(syndrome)).as("%02x", syndrome).isEqualTo(syndrome < 0x20);
            assertThat(Aeth.isRnrNak(syndrome)).isEqualTo(syndrome >= 0x20 && syndrome < 0x40);
            assertThat(Aeth.isNak(syndrome)).isEqualTo(syndrome >= 0x60 && syndrome < 0x80);
            assertThat(Aeth.isAck(syndrome) || Aeth.isRnrNak(syndrome) || Aeth.isNak(syndrome))
                    .isEqualTo(!reserved);
        }
    }

    @Test
    void syndromesOfLinuxAreRecognized() {
        assertThat(Aeth.syndrome(MemorySegment.ofArray(Captures.frame("rnr", 5).bytes()), Bth.LENGTH))
                .isEqualTo(Aeth.RNR_NAK);
        assertThat(Aeth.syndrome(
                        MemorySegment.ofArray(Captures.frame("rping", 8).bytes()), Bth.LENGTH))
                .isEqualTo(Aeth.ACK);
        assertThat(Aeth.syndrome(
                        MemorySegment.ofArray(Captures.frame("loss", 41).bytes()), Bth.LENGTH))
                .isEqualTo(Aeth.NAK_PSN_SEQUENCE_ERROR);
        assertThat(Aeth.syndrome(
                        MemorySegment.ofArray(Captures.frame("inject", 53).bytes()), Bth.LENGTH))
                .isEqualTo(Aeth.NAK_INVALID_REQUEST);
    }
}
