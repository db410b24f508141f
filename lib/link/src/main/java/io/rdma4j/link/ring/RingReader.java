package io.rdma4j.link.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The side of a ring that reads. One thread at a time may use it, except for {@link #beginWait} and {@link #endWait}.
 *
 * <p>The writer is another process, which may write anything into the memory at any time. Each number is therefore read once and
 * checked, and headers are copied before they are examined. The payload of a large data frame stays in the ring, and is read
 * once, when it is copied to its destination. A ring with an impossible number is broken: it returns no further frames.
 */
public final class RingReader {
    /** The maximum number of frames of a poll. Their copies stay in the cache of a processor. */
    static final int FRAMES = 32;

    /** Frames up to this size are copied whole, which takes no longer than splitting saves. */
    private static final int SMALL_FRAME_BYTES = 512;

    private static final int LAST_MANAGEMENT_QUEUE_PAIR = 1;

    static final int COPY_BYTES = SendBurst.MAX_FRAME_BYTES;

    private final MemorySegment memory;
    private final long capacity;
    private final MemorySegment copies;
    private final ByteBuffer copiesView;

    private final boolean copiesAll;

    /** The number of bytes read so far, as the waiting thread sees it. */
    private final AtomicLong read = new AtomicLong();

    /** The number of bytes read so far: the start of the current record. */
    private long head;

    /** The number of bytes released to the writer so far. */
    private long released;

    /** The bytes of the current record that were not returned yet, and the offset of the next frame. 0 if there is no record. */
    private int left;

    private long next;
    private int recordBytes;
    private int frameBytes;
    private int index;
    private int sourcePort;
    private int trafficClass;
    private boolean isSealed;
    private boolean isBroken;

    /**
     * Creates the reader of a ring from which nothing was read yet.
     *
     * @param copiesAll true if no frame may be split, since something between here and the queue pairs keeps or changes frames
     * @throws IllegalArgumentException if the memory does not have the size of a ring
     */
    public RingReader(MemorySegment memory, boolean copiesAll) {
        this(
                RingLayout.require(memory),
                Arena.ofAuto().allocate((long) FRAMES * COPY_BYTES, RingLayout.ALIGNMENT),
                copiesAll);
    }

    /** Creates a reader that copies frames to the given memory. The capacity is any power of two. */
    RingReader(MemorySegment memory, MemorySegment copies, boolean copiesAll) {
        this.memory = memory;
        this.copies = copies;
        this.copiesAll = copiesAll;
        copiesView = copies.asByteBuffer();
        capacity = memory.byteSize() - RingLayout.RECORDS;
    }

    /**
     * Adds pending frames to a burst, without waiting. The frames are valid until the next call. The caller sets their addresses.
     *
     * @param maximum the maximum number of frames to add; the burst must have space for them
     * @return the number of frames
     */
    public int poll(ReceiveBurst burst, int maximum) {
        release();
        int added = 0;
        int limit = Math.min(maximum, FRAMES);
        while (added < limit && (left > 0 || findRecord())) {
            addFrame(burst.add(), added++);
        }
        if (added == 0) {
            release(); // padding that was skipped is also released
        } else {
            read.setRelease(head);
        }
        return added;
    }

    /** Lets the writer use the memory of the frames that the last poll returned. */
    private void release() {
        if (released != head) {
            released = head;
            read.setRelease(head);
            RingLayout.LONG.setRelease(memory, (long) RingLayout.HEAD, head);
        }
    }

    private boolean findRecord() {
        while (!isBroken) {
            long available = (long) RingLayout.LONG.getAcquire(memory, (long) RingLayout.TAIL) - head;
            if (available == 0) {
                return false;
            }
            long at = head & capacity - 1;
            int bytes = memory.get(RingLayout.WORD, RingLayout.RECORDS + at);
            if (available < 0 || available > capacity) {
                isBroken = true;
            } else if (bytes == RingLayout.PADDING && capacity - at < available) {
                head += capacity - at;
            } else {
                return beginRecord(at, bytes, available);
            }
        }
        return false;
    }

    private boolean beginRecord(long at, int bytes, long available) {
        long record = RingLayout.RECORDS + at;
        int eachBytes = memory.get(RingLayout.WORD, record + RingLayout.FRAME_BYTES);
        if (bytes <= 0
                || bytes > Math.min(available, capacity - at) - RingLayout.HEADER_BYTES
                || RingLayout.recordBytes(bytes) > available
                || eachBytes <= 0
                || eachBytes > SendBurst.MAX_FRAME_BYTES) {
            isBroken = true;
            return false;
        }
        left = bytes;
        next = record + RingLayout.HEADER_BYTES;
        recordBytes = RingLayout.recordBytes(bytes);
        frameBytes = eachBytes;
        index = 0;
        sourcePort = memory.get(RingLayout.WORD, record + RingLayout.SOURCE_PORT) & 0xffff;
        trafficClass = memory.get(JAVA_BYTE, record + RingLayout.TRAFFIC_CLASS) & 0xff;
        isSealed = memory.get(JAVA_BYTE, record + RingLayout.SEALED) != 0;
        return true;
    }

    private void addFrame(Frame frame, int slot) {
        int length = Math.min(frameBytes, left);
        int offset = slot * COPY_BYTES;
        boolean isSplit = length > SMALL_FRAME_BYTES && !isSealed && !copiesAll;
        MemorySegment.copy(memory, next, copies, offset, isSplit ? Frame.SPLIT_BYTES : length);
        if (isSplit && Bth.destinationQueuePair(copies, offset) <= LAST_MANAGEMENT_QUEUE_PAIR) {
            isSplit = false; // management datagrams are parsed, so they must not change
            MemorySegment.copy(memory, next, copies, offset, length);
        }
        frame.isSplit = isSplit;
        frame.body = memory;
        frame.bodyOffset = next;
        next += length;
        left -= length;
        if (left == 0) {
            head += recordBytes;
        }
        frame.segment = copies;
        frame.buffer = copiesView;
        frame.offset = offset;
        frame.length = length;
        frame.sourcePort = sourcePort;
        frame.destinationPort = Frame.UDP_PORT;
        frame.trafficClass = trafficClass;
        frame.hopLimit = 64;
        frame.identification = index++;
        frame.isSealed = isSealed;
    }

    /** Returns the number of bytes that the writer has written so far. */
    public long written() {
        return (long) RingLayout.LONG.getAcquire(memory, (long) RingLayout.TAIL);
    }

    /** Returns whether the polls have returned all frames up to a number of bytes, or the ring is broken. */
    public boolean hasReached(long written) {
        return isBroken || head >= written;
    }

    /** Returns whether the writer has written an impossible number. No further frames are returned then. */
    public boolean isBroken() {
        return isBroken;
    }

    /**
     * Makes the writer wake this process when it writes, until {@link #endWait}. Any thread.
     *
     * @return false if frames are already pending, so that the caller must not wait
     */
    public boolean beginWait() {
        RingLayout.INT.setVolatile(memory, (long) RingLayout.ASLEEP, 1);
        return (long) RingLayout.LONG.getVolatile(memory, (long) RingLayout.TAIL) == read.getAcquire();
    }

    /** Ends the time in which the writer wakes this process. Any thread. */
    public void endWait() {
        RingLayout.INT.setOpaque(memory, (long) RingLayout.ASLEEP, 0);
    }
}
