package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture rping #9, RDMA READ REQUEST of 64 bytes. */
class RethTest extends HeaderLaws<Reth> {
    @Override
    protected String golden() {
        return "000056368b92b5f0 00000569 00000040";
    }

    @Override
    protected Reth header() {
        return new Reth(0x5636_8b92_b5f0L, 0x569, 64);
    }

    @Override
    protected int length() {
        return Reth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected Reth parse(MemorySegment s, long at) {
        return Reth.parse(s, at);
    }

    @Override
    protected void emit(Reth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(Reth.address(s, 0)).isEqualTo(0x5636_8b92_b5f0L);
        assertThat(Reth.key(s, 0)).isEqualTo(0x569);
        assertThat(Reth.dmaLength(s, 0)).isEqualTo(64);
        MemorySegment written = scratch();
        Reth.write(written, 0, 0x5636_8b92_b5f0L, 0x569, 64);
        assertThat(hex(written)).isEqualTo(hex(s));
    }

    @Test
    void theLengthIsUnsigned() {
        MemorySegment s = scratch();
        Reth.write(s, 0, -1, -1, 0x8000_0000);
        assertThat(Integer.toUnsignedLong(Reth.dmaLength(s, 0))).isEqualTo(1L << 31);
        assertThat(Reth.parse(s, 0)).isEqualTo(new Reth(-1, -1, 0x8000_0000));
    }
}
