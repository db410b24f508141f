package io.rdma4j.link;

import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A burst of frames from one local address to one destination, laid out contiguously. All frames have the size of the
 * first, and only the last may be shorter, so a link can pass them to the kernel in one segmented send.
 *
 * <p>Usage: call {@link #clear} and {@link #destination}. For each frame, write it at {@link #tail} of {@link
 * #segment}, seal it and {@link #append} it. Then call {@link Link#send}. Not thread safe.
 */
public final class SendBurst {
    /** Largest frame: path MTU 4096, all headers, immediate and ICRC, rounded up. */
    public static final int MAX_FRAME_BYTES = 4096 + 128;

    private static final int DEFAULT_HOP_LIMIT = 64;

    private final MemorySegment segment;
    private final ByteBuffer buffer;
    private final Frame frame = new Frame();
    private int count;
    private int segmentBytes;
    private int tail;
    private boolean closedByShortFrame;
    private boolean isForOneQueuePair;
    private boolean isSealed = true;
    private long destinationHigh;
    private long destinationLow;
    private int destinationScope;
    private int destinationPort = Frame.UDP_PORT;
    private int trafficClass;
    private int hopLimit = DEFAULT_HOP_LIMIT;
    private int flowLabel;
    private @Nullable Flow flow;

    /**
     * Creates an empty burst.
     *
     * @param arena allocates the burst's memory
     * @param capacityBytes size of the memory for the frames, at least {@link #MAX_FRAME_BYTES}
     * @throws IllegalArgumentException if the capacity is less than {@link #MAX_FRAME_BYTES}
     */
    public SendBurst(Arena arena, int capacityBytes) {
        if (capacityBytes < MAX_FRAME_BYTES) {
            throw new IllegalArgumentException("capacity " + capacityBytes + " is less than " + MAX_FRAME_BYTES);
        }
        segment = arena.allocate(capacityBytes, 64);
        buffer = segment.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
    }

    /** Removes all frames. */
    public void clear() {
        count = 0;
        segmentBytes = 0;
        tail = 0;
        closedByShortFrame = false;
        isSealed = true;
    }

    /**
     * Marks the frames as having no ICRC, until {@link #clear}. Only a link that returns false from {@link Link#needsIcrc}
     * accepts them.
     */
    public void withoutIcrc() {
        isSealed = false;
    }

    /** Returns whether the frames have an ICRC. */
    public boolean isSealed() {
        return isSealed;
    }

    /**
     * Sets the destination of the burst's frames. Addresses are in GID form.
     *
     * @param high upper half of the address
     * @param low lower half of the address
     * @param scope interface index of an IPv6 link-local address, otherwise 0
     * @param newTrafficClass type of service or traffic class of the packets
     */
    public void destination(long high, long low, int scope, int newTrafficClass) {
        destinationHigh = high;
        destinationLow = low;
        destinationScope = scope;
        trafficClass = newTrafficClass;
    }

    /**
     * Sets the hop limit and the flow label of the packets, until they are set again. The defaults are 64 and 0.
     *
     * @param newHopLimit IPv4 time to live or IPv6 hop limit, 1 to 255; 0 for 64. Links without system calls send 64
     * @param newFlowLabel IPv6 flow label of 20 bits, 0 to let the system choose one; without effect for IPv4 and for links without
     *     system calls
     */
    public void ipHeader(int newHopLimit, int newFlowLabel) {
        hopLimit = newHopLimit == 0 ? DEFAULT_HOP_LIMIT : newHopLimit;
        flowLabel = newFlowLabel;
    }

    /** Sets the flow of the frames, or null to send them from the link's own port, until it is set again. */
    public void flow(@Nullable Flow newFlow) {
        flow = newFlow;
    }

    /**
     * Sets the UDP port of the destination, for peers that do not use {@link Frame#UDP_PORT}. It remains in effect
     * until set again.
     */
    public void destinationPort(int port) {
        destinationPort = port;
    }

    /**
     * Sets whether all frames of a burst are for one queue pair, so that a link need not check each one. It remains in effect
     * until set again.
     */
    public void forOneQueuePair(boolean isOne) {
        isForOneQueuePair = isOne;
    }

    /**
     * Returns whether a frame of up to {@link #MAX_FRAME_BYTES} can be appended without exceeding {@code maxSegments}
     * frames.
     */
    public boolean hasRoom(int maxSegments) {
        return count < maxSegments && !closedByShortFrame && segment.byteSize() - tail >= MAX_FRAME_BYTES;
    }

    /**
     * Returns whether a frame of {@code bytes} bytes can follow the current frames. All frames except the last must have the same
     * size.
     */
    public boolean accepts(int bytes) {
        return count == 0 || !closedByShortFrame && bytes <= segmentBytes;
    }

    /**
     * Appends the frame of {@code bytes} bytes that was written at {@link #tail}.
     *
     * @throws IllegalStateException if the frame is not accepted, see {@link #accepts}
     */
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

    /** Returns the memory of the frames. */
    public MemorySegment segment() {
        return segment;
    }

    /** Returns the memory of {@link #segment} as a buffer. Callers may change its position and limit. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /** Returns the offset of the next frame, in bytes. */
    public int tail() {
        return tail;
    }

    /** Returns the number of frames. */
    public int count() {
        return count;
    }

    /** Returns whether all frames are for one queue pair; see {@link #forOneQueuePair}. */
    public boolean isForOneQueuePair() {
        return isForOneQueuePair;
    }

    /** Returns the number of frames, from the first one, that a link must check to know the destination queue pairs of the burst. */
    public int receiverCount() {
        return isForOneQueuePair ? Math.min(count, 1) : count;
    }

    /** Returns the size in bytes of each frame except the last. */
    public int segmentBytes() {
        return segmentBytes;
    }

    /** Returns the offset of frame {@code index}, in bytes. */
    public int offset(int index) {
        return index * segmentBytes;
    }

    /** Returns the size of frame {@code index}, in bytes. */
    public int length(int index) {
        return index == count - 1 ? tail - index * segmentBytes : segmentBytes;
    }

    /** Returns the upper half of the destination address. */
    public long destinationHigh() {
        return destinationHigh;
    }

    /** Returns the lower half of the destination address. */
    public long destinationLow() {
        return destinationLow;
    }

    /** Returns the interface index of an IPv6 link-local destination, otherwise 0. */
    public int destinationScope() {
        return destinationScope;
    }

    /** Returns the UDP port of the destination. */
    public int destinationPort() {
        return destinationPort;
    }

    /** Returns the type of service or traffic class. */
    public int trafficClass() {
        return trafficClass;
    }

    /** Returns the IPv4 time to live or IPv6 hop limit. */
    public int hopLimit() {
        return hopLimit;
    }

    /** Returns the IPv6 flow label, 0 if the system chooses it. */
    public int flowLabel() {
        return flowLabel;
    }

    /** Returns the flow, or null if frames are sent from the link's own port. */
    public @Nullable Flow flow() {
        return flow;
    }

    /** Returns the UDP port that the frames are sent from, if the link's port is {@code linkPort}. */
    public int sourcePort(int linkPort) {
        Flow current = flow;
        return current == null ? linkPort : current.sourcePort();
    }

    /**
     * Returns a view of frame {@code index} with the burst's destination. The caller sets the source address and port.
     * Every call returns the same object.
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
        frame.hopLimit = hopLimit;
        frame.flowLabel = flowLabel;
        return frame;
    }
}
