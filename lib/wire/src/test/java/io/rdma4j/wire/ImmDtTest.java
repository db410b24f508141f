package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture all #8, SEND with immediate. */
class ImmDtTest extends HeaderLaws<ImmDt> {
    @Override
    protected String golden() {
        return "cafe0001";
    }

    @Override
    protected ImmDt header() {
        return new ImmDt(0xcafe_0001);
    }

    @Override
    protected int length() {
        return ImmDt.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected ImmDt parse(MemorySegment s, long at) {
        return ImmDt.parse(s, at);
    }

    @Override
    protected void emit(ImmDt header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(ImmDt.data(s, 0)).isEqualTo(0xcafe_0001);
        MemorySegment written = scratch();
        ImmDt.write(written, 0, 0xcafe_0001);
        assertThat(hex(written)).isEqualTo(hex(s));
    }
}
