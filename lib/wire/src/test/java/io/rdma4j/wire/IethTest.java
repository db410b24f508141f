package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture all #34, SEND with invalidate. */
class IethTest extends HeaderLaws<Ieth> {
    @Override
    protected String golden() {
        return "080001b4";
    }

    @Override
    protected Ieth header() {
        return new Ieth(0x0800_01b4);
    }

    @Override
    protected int length() {
        return Ieth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected Ieth parse(MemorySegment s, long at) {
        return Ieth.parse(s, at);
    }

    @Override
    protected void emit(Ieth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(Ieth.key(s, 0)).isEqualTo(0x0800_01b4);
        MemorySegment written = scratch();
        Ieth.write(written, 0, 0x0800_01b4);
        assertThat(hex(written)).isEqualTo(hex(s));
    }
}
