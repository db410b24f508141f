package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: annex A14, eight reserved bits and the number. */
class XrcEthTest extends HeaderLaws<XrcEth> {
    @Override
    protected String golden() {
        return "00a1b2c3";
    }

    @Override
    protected XrcEth header() {
        return new XrcEth(0xa1b2c3);
    }

    @Override
    protected int length() {
        return XrcEth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "0:ff";
    }

    @Override
    protected XrcEth parse(MemorySegment s, long at) {
        return XrcEth.parse(s, at);
    }

    @Override
    protected void emit(XrcEth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldIsReadInPlace() {
        assertThat(XrcEth.sharedReceiveQueue(goldenSegment(), 0)).isEqualTo(0xa1b2c3);
    }
}
