package io.rdma4j.link;

import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The way of one direction's frames through the faults: each is copied in, perhaps lost, changed or doubled, waits its
 * delay, perhaps steps aside for later ones, and comes out.
 *
 * <p>Random numbers are SplitMix64 from the specification's seed (outbound) or the seed exclusive-or {@link
 * #INBOUND_SEED} (inbound). Each frame takes six of them whatever faults are on: loss, corruption, which bit, duplication,
 * reordering, behind how many. So frame {@code n} is lost or not by the seed alone.
 */
final class FaultQueue {
    static final long INBOUND_SEED = 0x5851_f42d_4c95_7f2dL;

    private static final int MOST_STEPS_BACK = 8;
    /** How long a frame stays aside when nothing follows it. */
    private static final long LONGEST_ASIDE_NANOS = 10_000_000;

    /** Frames held at once; more are dropped, as by a router. */
    private static final int MOST_HELD = 8192;

    private final FaultSpec spec;
    private final FaultCounts counts = new FaultCounts();
    private final ArrayDeque<Held> line = new ArrayDeque<>();
    private final List<Held> aside = new ArrayList<>();
    private final ArrayDeque<Held> free = new ArrayDeque<>();
    private int held;
    private long randomState;

    FaultQueue(FaultSpec spec, long seed) {
        this.spec = spec;
        this.randomState = seed;
    }

    FaultCounts counts() {
        return counts;
    }

    /**
     * Takes in a frame; its memory is not needed after the call.
     *
     * @param scope scope of the frame's destination, kept beside it
     */
    void accept(Frame frame, int scope, long nowNanos) {
        counts.frames.increment();
        boolean lose = chance(spec.loss());
        boolean corrupt = chance(spec.corruption());
        int bit = (int) Long.remainderUnsigned(random(), 8L * Math.max(1, frame.length));
        boolean duplicate = chance(spec.duplication());
        boolean reorder = chance(spec.reordering());
        int stepsBack = 1 + (int) Long.remainderUnsigned(random(), MOST_STEPS_BACK);
        if (lose) {
            counts.lost.increment();
            return;
        }
        Held first = hold(frame, scope, nowNanos);
        if (first == null) {
            return;
        }
        if (corrupt && frame.length > 0) {
            counts.corrupted.increment();
            int at = bit >> 3;
            first.frame.buffer.put(at, (byte) (first.frame.buffer.get(at) ^ 1 << (bit & 7)));
        }
        if (duplicate) {
            Held second = hold(first.frame, scope, nowNanos);
            if (second != null) {
                counts.duplicated.increment();
            }
        }
        if (reorder) {
            counts.reordered.increment();
            first.stepsBack = stepsBack;
        }
    }

    private @Nullable Held hold(Frame frame, int scope, long nowNanos) {
        if (held == MOST_HELD || frame.length > SendBurst.MAX_FRAME_BYTES) {
            counts.overflowed.increment();
            return null;
        }
        held++;
        Held entry = free.isEmpty() ? new Held() : free.pop();
        entry.fill(frame, scope, nowNanos + spec.delayNanos());
        line.add(entry);
        return entry;
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

    /** The next frame that may go on now, or null; give it back by {@link #recycle}. */
    @Nullable
    Held next(long nowNanos) {
        for (int i = 0; i < aside.size(); i++) {
            Held entry = aside.get(i);
            if (entry.stepsBack == 0 || entry.dueNanos <= nowNanos) {
                aside.remove(i);
                return entry;
            }
        }
        while (!line.isEmpty() && line.peek().dueNanos <= nowNanos) {
            Held entry = line.remove();
            if (entry.stepsBack == 0) {
                for (int i = 0; i < aside.size(); i++) {
                    aside.get(i).stepsBack--;
                }
                return entry;
            }
            entry.dueNanos += LONGEST_ASIDE_NANOS;
            aside.add(entry);
        }
        return null;
    }

    /** Takes back the memory of a frame that has gone on. */
    void recycle(Held entry) {
        held--;
        free.push(entry);
    }

    /** When {@link #next} has something, if nothing more comes in. */
    long nextDeadlineNanos() {
        long deadline = line.isEmpty() ? Long.MAX_VALUE : line.peek().dueNanos;
        for (int i = 0; i < aside.size(); i++) {
            Held entry = aside.get(i);
            // One that has been passed by enough others is due since it stepped aside.
            long due = entry.stepsBack == 0 ? entry.dueNanos - LONGEST_ASIDE_NANOS : entry.dueNanos;
            deadline = Math.min(deadline, due);
        }
        return deadline;
    }

    /** A frame with memory of its own. */
    static final class Held {
        final Frame frame = new Frame();
        private final MemorySegment memory = Arena.ofAuto().allocate(SendBurst.MAX_FRAME_BYTES, 64);
        private final ByteBuffer view = memory.asByteBuffer();
        int scope;
        private long dueNanos;
        private int stepsBack;

        void fill(Frame source, int newScope, long newDueNanos) {
            scope = newScope;
            MemorySegment.copy(source.segment, source.offset, memory, 0, source.length);
            frame.set(source);
            frame.segment = memory;
            frame.buffer = view;
            frame.offset = 0;
            dueNanos = newDueNanos;
            stepsBack = 0;
        }
    }
}
