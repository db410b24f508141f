package io.rdma4j.link.decorator;

import io.rdma4j.link.Flow;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A queue that applies the faults to the frames of one direction. Each frame is copied in, may be dropped, corrupted or
 * duplicated, is delayed, may be overtaken by later frames, and is then forwarded.
 *
 * <p>Random numbers are SplitMix64, seeded with the specification's seed (outbound) or with that seed exclusive-or
 * {@link #INBOUND_SEED} (inbound). Each frame consumes six random numbers regardless of the enabled faults: loss,
 * corruption, bit index, duplication, reordering, reorder distance. The seed alone therefore determines whether frame
 * {@code n} is dropped.
 */
final class FaultQueue {
    static final long INBOUND_SEED = 0x5851_f42d_4c95_7f2dL;

    private static final int MAX_REORDER_DISTANCE = 8;
    /** The maximum time that a reordered frame waits for later ones. */
    private static final long MAX_REORDER_NANOS = 10_000_000;

    /** The maximum number of frames held at the same time. Further frames are dropped, like in a router. */
    private static final int MAX_HELD = 8192;

    /** Bytes that precede the frame on Ethernet with IPv4, and follow it: preamble, headers, checksum and gap. */
    private static final int ETHERNET_IPV4_BYTES = 66;

    private static final int ETHERNET_IPV6_BYTES = 86;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** The maximum number of bytes that wait for a link with a rate. Further frames are dropped, like in a switch. */
    private static final long MAX_WAITING_BYTES = 1 << 20;

    private final Supplier<FaultSpec> specification;
    private final Consumer<Frame> dropped;
    private final FaultCounts counts = new FaultCounts();
    private final ArrayDeque<HeldFrame> delayed = new ArrayDeque<>();
    private final List<HeldFrame> reordered = new ArrayList<>();
    private final ArrayDeque<HeldFrame> free = new ArrayDeque<>();
    private int held;
    private long randomState;

    /** The time that the link needed at {@link #backlogAtNanos} to send the frames accepted so far, if there is a rate. */
    private long backlogNanos;

    private long backlogAtNanos;

    /**
     * Creates an empty queue.
     *
     * @param specification returns the current faults
     * @param seed the seed of this direction
     * @param dropped is called with each frame that is dropped; the frame is valid during the call
     */
    FaultQueue(Supplier<FaultSpec> specification, long seed, Consumer<Frame> dropped) {
        this.specification = specification;
        this.randomState = seed;
        this.dropped = dropped;
    }

    /** Returns whether frames pass unchanged and immediately, and none is held. */
    boolean isIdle() {
        return held == 0 && specification.get().isNone();
    }

    FaultCounts counts() {
        return counts;
    }

    /**
     * Takes a frame. Its memory may be reused after the call.
     *
     * @param scope scope of the frame's destination, stored with the frame
     * @param flow the flow of the frame, stored with it; null for none
     */
    void accept(Frame frame, int scope, @Nullable Flow flow, long nowNanos) {
        FaultSpec spec = specification.get();
        counts.frames.increment();
        boolean drop = chance(spec.loss());
        boolean corrupt = chance(spec.corruption());
        int bit = (int) Long.remainderUnsigned(random(), 8L * Math.max(1, frame.length));
        boolean duplicate = chance(spec.duplication());
        boolean reorder = chance(spec.reordering());
        int remainingOvertakes = 1 + (int) Long.remainderUnsigned(random(), MAX_REORDER_DISTANCE);
        if (drop) {
            counts.lost.increment();
            dropped.accept(frame);
            return;
        }
        HeldFrame first = hold(frame, scope, flow, nowNanos, spec);
        if (first == null) {
            dropped.accept(frame);
            return;
        }
        if (corrupt && frame.length > 0) {
            counts.corrupted.increment();
            int index = bit >> 3;
            first.frame.buffer.put(index, (byte) (first.frame.buffer.get(index) ^ 1 << (bit & 7)));
        }
        if (duplicate) {
            HeldFrame second = hold(first.frame, scope, flow, nowNanos, spec);
            if (second != null) {
                counts.duplicated.increment();
            }
        }
        if (reorder) {
            counts.reordered.increment();
            first.remainingOvertakes = remainingOvertakes;
        }
    }

    private @Nullable HeldFrame hold(Frame frame, int scope, @Nullable Flow flow, long nowNanos, FaultSpec spec) {
        if (held == MAX_HELD || frame.length > SendBurst.MAX_FRAME_BYTES || !enterLine(frame, nowNanos, spec)) {
            counts.overflowed.increment();
            return null;
        }
        held++;
        HeldFrame entry = free.isEmpty() ? new HeldFrame() : free.pop();
        entry.fill(frame, scope, flow, nowNanos + backlogNanos + spec.delayNanos());
        delayed.add(entry);
        return entry;
    }

    /** Adds the time that a frame takes at the link's rate, unless too many bytes wait for the link already. */
    private boolean enterLine(Frame frame, long nowNanos, FaultSpec spec) {
        if (spec.bitsPerSecond() == 0) {
            backlogNanos = 0;
            return true;
        }
        double nanosPerByte = 8.0 * NANOS_PER_SECOND / spec.bitsPerSecond();
        if (backlogNanos > 0) {
            backlogNanos = Math.max(0, backlogNanos - (nowNanos - backlogAtNanos));
        }
        backlogAtNanos = nowNanos;
        if (backlogNanos > MAX_WAITING_BYTES * nanosPerByte) {
            return false;
        }
        int bytes = frame.length + (frame.isIpv4() ? ETHERNET_IPV4_BYTES : ETHERNET_IPV6_BYTES);
        backlogNanos += Math.round(bytes * nanosPerByte);
        return true;
    }

    private boolean chance(double probability) {
        return (random() >>> 11) * 0x1p-53 < probability;
    }

    private long random() {
        randomState += 0x9e3779b97f4a7c15L;
        long mixed = randomState;
        mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }

    /** Returns the next frame to forward now, or null. The caller returns the frame with {@link #recycle}. */
    @Nullable
    HeldFrame next(long nowNanos) {
        for (int i = 0; i < reordered.size(); i++) {
            HeldFrame entry = reordered.get(i);
            if (entry.remainingOvertakes == 0 || entry.dueNanos <= nowNanos) {
                reordered.remove(i);
                return entry;
            }
        }
        while (!delayed.isEmpty() && delayed.peek().dueNanos <= nowNanos) {
            HeldFrame entry = delayed.remove();
            if (entry.remainingOvertakes == 0) {
                for (int i = 0; i < reordered.size(); i++) {
                    reordered.get(i).remainingOvertakes--;
                }
                return entry;
            }
            entry.dueNanos += MAX_REORDER_NANOS;
            reordered.add(entry);
        }
        return null;
    }

    /** Reuses the memory of a forwarded frame. */
    void recycle(HeldFrame entry) {
        held--;
        free.push(entry);
    }

    /** Returns the time at which {@link #next} returns a frame if no further frames are taken. */
    long nextDeadlineNanos() {
        long deadline = delayed.isEmpty() ? Long.MAX_VALUE : delayed.peek().dueNanos;
        for (int i = 0; i < reordered.size(); i++) {
            HeldFrame entry = reordered.get(i);
            // A frame that enough others have overtaken has been due since it was set aside.
            long due = entry.remainingOvertakes == 0 ? entry.dueNanos - MAX_REORDER_NANOS : entry.dueNanos;
            deadline = Math.min(deadline, due);
        }
        return deadline;
    }

    /** A copy of a frame. */
    static final class HeldFrame {
        final Frame frame = new Frame();
        private final MemorySegment memory = Arena.ofAuto().allocate(SendBurst.MAX_FRAME_BYTES, 64);
        private final ByteBuffer view = memory.asByteBuffer();
        int scope;

        @Nullable
        Flow flow;

        private long dueNanos;
        private int remainingOvertakes;

        void fill(Frame source, int newScope, @Nullable Flow newFlow, long newDueNanos) {
            scope = newScope;
            flow = newFlow;
            MemorySegment.copy(source.segment, source.offset, memory, 0, source.length);
            frame.set(source);
            frame.segment = memory;
            frame.buffer = view;
            frame.offset = 0;
            dueNanos = newDueNanos;
            remainingOvertakes = 0;
        }
    }
}
