package io.rdma4j.link;

import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Frames from one local address to one destination, laid end to end in one piece of memory: all have the size of the
 * first, only the last may be shorter. So a link can hand them to the kernel in one segmented send.
 *
 * <p>Use: {@link #clear}, {@link #destination}, then for each frame write at {@link #tail} of {@link #segment}, seal it
 * and {@link #append} it; then {@link Link#send}. Not thread safe.
 */
public final class SendBurst {
    /** Largest frame: path MTU 4096, all headers, immediate and ICRC, rounded up. */
    public static final int MAX_FRAME_BYTES = 4096 + 128;

    private final MemorySegment segment;
    private final ByteBuffer buffer;
    private final Frame frame = new Frame();
    private int count;
    private int segmentBytes;
    private int tail;
    private boolean closedByShortFrame;
    private long destinationHigh;
    private long destinationLow;
    private int destinationScope;
    private int destinationPort = Frame.UDP_PORT;
    private int trafficClass;

    /**
     * Creates an empty burst.
     *
     * @param arena owns the burst's memory
     * @param capacityBytes memory for the frames, at least {@link #MAX_FRAME_BYTES}
     */
    public SendBurst(Arena arena, int capacityBytes) {
        if (capacityBytes < MAX_FRAME_BYTES) {
            throw new IllegalArgumentException("capacity " + capacityBytes + " is less than " + MAX_FRAME_BYTES);
        }
        segment = arena.allocate(capacityBytes, 64);
        buffer = segment.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
    }

    /** Empties the burst. */
    public void clear() {
        count = 0;
        segmentBytes = 0;
        tail = 0;
        closedByShortFrame = false;
    }

    /**
     * Says where the burst's frames go; addresses in GID form.
     *
     * @param high upper half of the address
     * @param low lower half of the address
     * @param scope interface index of an IPv6 link-local address, else 0
     * @param newTrafficClass type of service or traffic class of the packets
     */
    public void destination(long high, long low, int scope, int newTrafficClass) {
        destinationHigh = high;
        destinationLow = low;
        destinationScope = scope;
        trafficClass = newTrafficClass;
    }

    /** Sets the UDP port of the destination, for peers that are not on {@link Frame#UDP_PORT}; stays until set again. */
    public void destinationPort(int port) {
        destinationPort = port;
    }

    /** Whether a frame of up to {@link #MAX_FRAME_BYTES} can be appended, within {@code maxSegments} frames. */
    public boolean hasRoom(int maxSegments) {
        return count < maxSegments && !closedByShortFrame && segment.byteSize() - tail >= MAX_FRAME_BYTES;
    }

    /** Whether a frame of {@code bytes} keeps the rule of equal sizes. */
    public boolean accepts(int bytes) {
        return count == 0 || !closedByShortFrame && bytes <= segmentBytes;
    }

    /** Takes the frame of {@code bytes} that was written at {@link #tail} into the burst. */
    public void append(int bytes) {
        if (!accepts(bytes)) {
            throw new IllegalStateException("a frame of " + bytes + " bytes after frames of " + segmentBytes);
        }
        if (count == 0) {
            segmentBytes = bytes;
        } else if (bytes < segmentBytes) {
            closedByShortFrame = true;
        }
        count++;
        tail += bytes;
    }

    /** The memory of the frames. */
    public MemorySegment segment() {
        return segment;
    }

    /** The same memory as {@link #segment}; position and limit are the user's to set. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /** Where the next frame begins. */
    public int tail() {
        return tail;
    }

    /** Number of frames. */
    public int count() {
        return count;
    }

    /** Bytes of each frame but the last. */
    public int segmentBytes() {
        return segmentBytes;
    }

    /** Where frame {@code index} begins. */
    public int offset(int index) {
        return index * segmentBytes;
    }

    /** Bytes of frame {@code index}. */
    public int length(int index) {
        return index == count - 1 ? tail - index * segmentBytes : segmentBytes;
    }

    /** Upper half of the destination address. */
    public long destinationHigh() {
        return destinationHigh;
    }

    /** Lower half of the destination address. */
    public long destinationLow() {
        return destinationLow;
    }

    /** Interface index of an IPv6 link-local destination, else 0. */
    public int destinationScope() {
        return destinationScope;
    }

    /** UDP port of the destination. */
    public int destinationPort() {
        return destinationPort;
    }

    /** Type of service or traffic class. */
    public int trafficClass() {
        return trafficClass;
    }

    /**
     * A view of frame {@code index} with the burst's destination; source address and port are the caller's to fill. The
     * same object is returned by every call.
     */
    public Frame frame(int index) {
        frame.segment = segment;
        frame.buffer = buffer;
        frame.offset = offset(index);
        frame.length = length(index);
        frame.destinationHigh = destinationHigh;
        frame.destinationLow = destinationLow;
        frame.destinationPort = destinationPort;
        frame.trafficClass = trafficClass;
        return frame;
    }
}
