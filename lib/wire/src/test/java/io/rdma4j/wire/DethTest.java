package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture rping #4, a CM REQ. */
class DethTest extends HeaderLaws<Deth> {
    @Override
    protected String golden() {
        return "80010000 00000001";
    }

    @Override
    protected Deth header() {
        return new Deth(0x8001_0000, 1);
    }

    @Override
    protected int length() {
        return Deth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "4:ff";
    }

    @Override
    protected Deth parse(MemorySegment s, long at) {
        return Deth.parse(s, at);
    }

    @Override
    protected void emit(Deth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(Deth.queueKey(s, 0)).isEqualTo(0x8001_0000);
        assertThat(Deth.sourceQueuePair(s, 0)).isEqualTo(1);
        MemorySegment written = scratch();
        Deth.write(written, 0, 0x8001_0000, 1);
        assertThat(hex(written)).isEqualTo(hex(s));
    }
}
