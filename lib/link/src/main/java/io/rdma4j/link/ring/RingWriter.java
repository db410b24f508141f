package io.rdma4j.link.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdma4j.link.SendBurst;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The side of a ring that writes. One thread at a time may use it.
 *
 * <p>The reader is another process, which may write anything into the memory at any time. The writer reads only the head and the
 * flag, and checks the head.
 */
public final class RingWriter {
    private final MemorySegment memory;
    private final long capacity;
    private long tail;

    /** The head as it was last read: a lower bound. */
    private long head;

    private boolean isBroken;

    /**
     * Creates the writer of a new ring.
     *
     * @param memory zeroed memory; see {@link RingLayout#isMemorySize}
     * @throws IllegalArgumentException if the memory has another size
     */
    public RingWriter(MemorySegment memory) {
        this(RingLayout.require(memory), memory.byteSize() - RingLayout.RECORDS);
    }

    /** Creates a writer whose capacity is any power of two. */
    RingWriter(MemorySegment memory, long capacity) {
        this.memory = memory;
        this.capacity = capacity;
    }

    /**
     * Writes all frames of a burst, or none if there is no space for them.
     *
     * @param sourcePort the UDP port that the frames would be sent from
     * @return false if there is no space, or the reader has broken the ring
     */
    public boolean write(SendBurst burst, int sourcePort) {
        int bytes = burst.tail();
        if (bytes == 0) {
            return true; // a record cannot be empty
        }
        int recordBytes = RingLayout.recordBytes(bytes);
        long at = tail & capacity - 1;
        long padding = at + recordBytes > capacity ? capacity - at : 0;
        if (!hasRoom(padding + recordBytes)) {
            return false;
        }
        if (padding > 0) {
            memory.set(RingLayout.WORD, RingLayout.RECORDS + at, RingLayout.PADDING);
            at = 0;
        }
        long record = RingLayout.RECORDS + at;
        memory.set(RingLayout.WORD, record, bytes);
        memory.set(RingLayout.WORD, record + RingLayout.FRAME_BYTES, burst.segmentBytes());
        memory.set(RingLayout.WORD, record + RingLayout.SOURCE_PORT, sourcePort);
        memory.set(JAVA_BYTE, record + RingLayout.TRAFFIC_CLASS, (byte) burst.trafficClass());
        memory.set(JAVA_BYTE, record + RingLayout.SEALED, (byte) (burst.isSealed() ? 1 : 0));
        MemorySegment.copy(burst.segment(), 0, memory, record + RingLayout.HEADER_BYTES, bytes);
        tail += padding + recordBytes;
        RingLayout.LONG.setRelease(memory, (long) RingLayout.TAIL, tail);
        return true;
    }

    /**
     * Returns whether there is space for the next bursts, with this number of bytes in total. Space that the reader releases is
     * seen immediately. False if the reader has broken the ring.
     */
    public boolean hasRoomFor(int bytes) {
        // In addition to the frames there are headers, and padding at the end of the ring that is less than a record.
        return hasRoom(2L * bytes);
    }

    private boolean hasRoom(long bytes) {
        if (!isBroken && tail + bytes - head <= capacity) {
            return true;
        }
        long read = (long) RingLayout.LONG.getAcquire(memory, (long) RingLayout.HEAD);
        if (read < head || read > tail) {
            isBroken = true;
        }
        if (isBroken) {
            return false;
        }
        head = read;
        return tail + bytes - head <= capacity;
    }

    /** Returns whether the reader has written an impossible head. Nothing can be written then. */
    public boolean isBroken() {
        return isBroken;
    }

    /**
     * Returns whether the reader waits to be woken, and notes that it is. Call it after {@link #write}: a reader that this call
     * does not see waiting will see the written frames before it waits.
     */
    public boolean mustWakeReader() {
        VarHandle.fullFence();
        return (int) RingLayout.INT.getOpaque(memory, (long) RingLayout.ASLEEP) == 1
                && RingLayout.INT.compareAndSet(memory, (long) RingLayout.ASLEEP, 1, 0);
    }
}
