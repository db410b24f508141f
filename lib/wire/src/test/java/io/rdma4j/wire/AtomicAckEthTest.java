package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture all #27, the response to a fetch-and-add. */
class AtomicAckEthTest extends HeaderLaws<AtomicAckEth> {
    @Override
    protected String golden() {
        return "0807060504030201";
    }

    @Override
    protected AtomicAckEth header() {
        return new AtomicAckEth(0x0807_0605_0403_0201L);
    }

    @Override
    protected int length() {
        return AtomicAckEth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected AtomicAckEth parse(MemorySegment s, long at) {
        return AtomicAckEth.parse(s, at);
    }

    @Override
    protected void emit(AtomicAckEth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(AtomicAckEth.original(s, 0)).isEqualTo(0x0807_0605_0403_0201L);
        MemorySegment written = scratch();
        AtomicAckEth.write(written, 0, 0x0807_0605_0403_0201L);
        assertThat(hex(written)).isEqualTo(hex(s));
    }
}
