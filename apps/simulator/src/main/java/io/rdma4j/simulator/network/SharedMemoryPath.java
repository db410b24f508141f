package io.rdma4j.simulator.network;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.ring.RingLayout;
import io.rdma4j.link.ring.RingReader;
import io.rdma4j.link.ring.RingWriter;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A ring in memory through which a host receives the frames that have no ICRC, like a process that shares memory with
 * another process. Each frame is written, read and processed before the next one, so all hosts of a thread use the same
 * ring.
 */
final class SharedMemoryPath {
    private static final ThreadLocal<SharedMemoryPath> OF_THREAD = ThreadLocal.withInitial(SharedMemoryPath::new);

    /** Replaces the bytes of a processed frame, like later frames in a real ring. */
    private static final byte OVERWRITTEN = (byte) 0xee;

    private final SendBurst out = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
    private final ReceiveBurst in = new ReceiveBurst(1);
    private final RingWriter writer;
    private final RingReader reader;

    private SharedMemoryPath() {
        MemorySegment memory = Arena.ofAuto().allocate(RingLayout.RECORDS + RingLayout.MIN_CAPACITY_BYTES, Long.BYTES);
        writer = new RingWriter(memory);
        reader = new RingReader(memory, false);
    }

    static SharedMemoryPath ofThread() {
        return OF_THREAD.get();
    }

    /** Returns a frame as it is read from the ring, valid until {@link #release}. */
    Frame pass(Frame frame) {
        out.clear();
        out.withoutIcrc();
        out.destination(frame.destinationHigh, frame.destinationLow, 0, frame.trafficClass);
        MemorySegment.copy(frame.segment, frame.offset, out.segment(), 0, frame.length);
        out.append(frame.length);
        in.clear();
        if (!writer.write(out, frame.sourcePort) || reader.poll(in, 1) != 1) {
            throw new AssertionError("a ring has lost a frame");
        }
        Frame read = in.frame(0);
        read.sourceHigh = frame.sourceHigh;
        read.sourceLow = frame.sourceLow;
        read.destinationHigh = frame.destinationHigh;
        read.destinationLow = frame.destinationLow;
        return read;
    }

    /** Overwrites a frame that has been processed and must no longer be read. */
    void release(Frame read) {
        read.segment
                .asSlice(read.offset, read.isSplit ? Frame.SPLIT_BYTES : read.length)
                .fill(OVERWRITTEN);
        read.body.asSlice(read.bodyOffset, read.length).fill(OVERWRITTEN);
    }
}
