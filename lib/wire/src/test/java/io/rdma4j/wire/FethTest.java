package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Golden bytes: the layout of Linux, rxe_hdr.h of 6.12: placement types in bits 3 to 0, selectivity level in bits 5 and 4. */
class FethTest extends HeaderLaws<Feth> {
    @Override
    protected String golden() {
        return "00000012";
    }

    @Override
    protected Feth header() {
        return new Feth(PlacementType.PERSISTENT.bit(), SelectivityLevel.REGION.code());
    }

    @Override
    protected int length() {
        return Feth.LENGTH;
    }

    @Override
    protected String reserved() {
        return "0:ff 1:ff 2:ff 3:c0";
    }

    @Override
    protected Feth parse(MemorySegment s, long at) {
        return Feth.parse(s, at);
    }

    @Override
    protected void emit(Feth header, MemorySegment s, long at) {
        header.emit(s, at);
    }

    @Test
    void fieldsAreReadAndWrittenInPlace() {
        MemorySegment s = goldenSegment();
        assertThat(Feth.placement(s, 0)).isEqualTo(PlacementType.PERSISTENT.bit());
        assertThat(Feth.selectivity(s, 0)).isEqualTo(SelectivityLevel.REGION.code());
        MemorySegment written = scratch();
        Feth.write(written, 0, PlacementType.PERSISTENT.bit(), SelectivityLevel.REGION.code());
        assertThat(hex(written)).isEqualTo(hex(s));
    }

    @Test
    void valuesThatAreTooLargeDoNotReachOtherFields() {
        MemorySegment s = scratch();
        Feth.write(s, 0, 0x1f, 5);
        assertThat(hex(s)).isEqualTo("0000001f");
        assertThat(Feth.parse(s, 0)).isEqualTo(new Feth(0xf, 1));
    }
}
