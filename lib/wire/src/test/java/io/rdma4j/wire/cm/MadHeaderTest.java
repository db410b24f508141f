package io.rdma4j.wire.cm;

import io.rdma4j.wire.HeaderLaws;
import java.lang.foreign.MemorySegment;

/** Golden bytes: capture rping #4, a REQ. */
class MadHeaderTest extends HeaderLaws<MadHeader> {
    @Override
    protected String golden() {
        return "01 07 02 03 0000 0000 00000002e33c0f91 0010 0000 00000000";
    }

    @Override
    protected MadHeader header() {
        return MadHeader.of(CmAttribute.REQ, 0x2_e33c_0f91L, 0);
    }

    @Override
    protected int length() {
        return MadHeader.LENGTH;
    }

    @Override
    protected String reserved() {
        return "12:ff 13:ff";
    }

    @Override
    protected MadHeader parse(MemorySegment s, long at) {
        return MadHeader.parse(s, at);
    }

    @Override
    protected void emit(MadHeader header, MemorySegment s, long at) {
        header.emit(s, at);
    }
}
