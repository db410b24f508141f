package io.rdma4j.bench.jmh;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Reth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Frames to measure on. */
final class Frames {
    /** Opcode of an RDMA WRITE in one packet, of a reliable connection. */
    static final int RC_RDMA_WRITE_ONLY = 0x0a;

    private static final int ICRC_BYTES = 4;
    private static final int LOOPBACK = 0x7f00_0001;

    private Frames() {}

    /** Memory outside the heap that lives as long as the process. */
    static MemorySegment newMemory(int bytes) {
        return Arena.global().allocate(bytes, 64);
    }

    /** An RDMA WRITE of one packet at the beginning of {@code memory}, over IPv4, not sealed. */
    static Frame write(MemorySegment memory, int payloadBytes) {
        Bth.write(memory, 0, RC_RDMA_WRITE_ONLY, false, 0, 0xffff, 0x1234, true, 0x56_789a);
        Reth.write(memory, Bth.LENGTH, 0x7f00_1234_0000L, 0x1234_5678, payloadBytes);
        Frame frame = new Frame();
        frame.segment = memory;
        frame.buffer = memory.asByteBuffer();
        frame.length = Bth.LENGTH + Reth.LENGTH + payloadBytes + ICRC_BYTES;
        frame.sourceLow = Frame.ipv4Low(LOOPBACK);
        frame.destinationLow = Frame.ipv4Low(LOOPBACK + 1);
        frame.sourcePort = 49_152;
        return frame;
    }
}
