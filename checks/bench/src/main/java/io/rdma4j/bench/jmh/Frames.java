package io.rdma4j.bench.jmh;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Reth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The frames used by the benchmarks. */
final class Frames {
    /** The opcode of an RDMA WRITE of one packet on a reliable connection. */
    static final int RC_RDMA_WRITE_ONLY = 0x0a;

    private static final int ICRC_BYTES = 4;
    private static final int LOOPBACK = 0x7f00_0001;

    private Frames() {}

    /** Allocates native memory that is never freed. */
    static MemorySegment newMemory(int bytes) {
        return Arena.global().allocate(bytes, 64);
    }

    /** Writes an RDMA WRITE of one packet to the beginning of {@code memory}, over IPv4, not sealed. */
    static Frame write(MemorySegment memory, int payloadBytes) {
        Bth.write(memory, 0, RC_RDMA_WRITE_ONLY, false, 0, 0xffff, 0x1234, true, 0x56_789a);
        Reth.write(memory, Bth.LENGTH, 0x7f00_1234_0000L, 0x1234_5678, payloadBytes);
        Frame frame = new Frame();
        frame.segment = memory;
        frame.buffer = memory.asByteBuffer();
        frame.length = Bth.LENGTH + Reth.LENGTH + payloadBytes + ICRC_BYTES;
        frame.sourceLow = Gid.ipv4Low(LOOPBACK);
        frame.destinationLow = Gid.ipv4Low(LOOPBACK + 1);
        frame.sourcePort = 49_152;
        return frame;
    }
}
