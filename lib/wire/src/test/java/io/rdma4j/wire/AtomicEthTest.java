package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: capture all #28, compare and swap. */
class AtomicEthTest extends HeaderLaws<AtomicEth> {
    @Override
    protected String golden() {
        return "0000555f04ac5000 00001021 0000000000002222 0000000000001111";
    }

    @Override
    protected AtomicEth header() {
        return new AtomicEth(0x555f_04ac_5000L, 0x1021, 0x2222, 0x1111);
    }

    @Override
    protected int length() {
        return AtomicEth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected AtomicEth parse(MemorySegment s, long at) {
        return AtomicEth.parse(s, at);
    }

    @Override
    protected void emit(AtomicEth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(AtomicEth.address(s, 0)).isEqualTo(0x555f_04ac_5000L);
        assertThat(AtomicEth.key(s, 0)).isEqualTo(0x1021);
        assertThat(AtomicEth.swapOrAdd(s, 0)).isEqualTo(0x2222);
        assertThat(AtomicEth.compare(s, 0)).isEqualTo(0x1111);
        MemorySegment written = scratch();
        AtomicEth.write(written, 0, 0x555f_04ac_5000L, 0x1021, 0x2222, 0x1111);
        assertThat(hex(written)).isEqualTo(hex(s));
    }
}
