package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture all #14, RDMA WRITE ONLY with immediate of ten bytes. */
class BthTest extends HeaderLaws<Bth> {
    @Override
    protected String golden() {
        return "0b20ffff 00000019 801d2243";
    }

    @Override
    protected Bth header() {
        return new Bth(0x0b, false, false, 2, 0, 0xffff, 0x19, true, 0x1d2243);
    }

    @Override
    protected int length() {
        return Bth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "4:ff 8:7f";
    }

    @Override
    protected Bth parse(MemorySegment s, long at) {
        return Bth.parse(s, at);
    }

    @Override
    protected void emit(Bth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(Bth.opcode(s, 0)).isEqualTo(0x0b);
        assertThat(Bth.solicited(s, 0)).isEqualTo(false);
        assertThat(Bth.migrated(s, 0)).isEqualTo(false);
        assertThat(Bth.padCount(s, 0)).isEqualTo(2);
        assertThat(Bth.version(s, 0)).isEqualTo(0);
        assertThat(Bth.partitionKey(s, 0)).isEqualTo(0xffff);
        assertThat(Bth.destinationQueuePair(s, 0)).isEqualTo(0x19);
        assertThat(Bth.acknowledgeRequest(s, 0)).isEqualTo(true);
        assertThat(Bth.psn(s, 0)).isEqualTo(0x1d2243);
        MemorySegment written = scratch();
        Bth.write(written, 0, 0x0b, false, 2, 0xffff, 0x19, true, 0x1d2243);
        assertThat(hex(written)).isEqualTo(hex(s));
    }

    @Test
    void writeStoresAllFieldsAtTheirLimits() {
        MemorySegment s = scratch();
        Bth.write(s, 0, 0xff, true, 3, 0x1_7fff, 0xffff_ffff, false, -1);
        assertThat(Bth.parse(s, 0)).isEqualTo(new Bth(0xff, true, false, 3, 0, 0x7fff, 0xff_ffff, false, 0xff_ffff));
        Bth.write(s, 0, 0, false, 0, 0, 0, true, 0);
        assertThat(Bth.parse(s, 0)).isEqualTo(new Bth(0, false, false, 0, 0, 0, 0, true, 0));
    }

    @Test
    void everyVersionAndTheMigrationBitSurvive() {
        for (int version = 0; version < 16; version++) {
            MemorySegment s = scratch();
            Bth header = new Bth(0x64, true, true, 1, version, 0xffff, 1, false, 0);
            header.emit(s, 0);
            assertThat(Bth.parse(s, 0)).isEqualTo(header);
            assertThat(Bth.version(s, 0)).isEqualTo(version);
            assertThat(Bth.migrated(s, 0)).isTrue();
        }
    }
}
