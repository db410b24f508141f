package io.rdma4j.wire;

import io.rdma4j.value.Gid;
import java.lang.foreign.MemorySegment;

/** Golden bytes: capture rping #4, GID of the active side in its REQ. */
class WireGidTest extends HeaderLaws<Gid> {
    @Override
    protected String golden() {
        return "00000000000000000000ffff0a580001";
    }

    @Override
    protected Gid header() {
        return Gid.ofIpv4(0x0a58_0001);
    }

    @Override
    protected int length() {
        return Gid.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected Gid parse(MemorySegment s, long at) {
        return Wire.gid(s, at);
    }

    @Override
    protected void emit(Gid header, MemorySegment s, long at) {
        Wire.gid(s, at, header);
    }
}
