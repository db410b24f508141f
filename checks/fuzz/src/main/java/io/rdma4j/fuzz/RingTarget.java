package io.rdma4j.fuzz;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.ring.RingLayout;
import io.rdma4j.link.ring.RingParts;
import io.rdma4j.link.ring.RingReader;
import io.rdma4j.link.ring.RingWriter;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * F10: arbitrary bytes that the process at the other end of a ring writes into the memory. The input is a sequence of
 * steps of one byte and their arguments: a writer and a reader of one ring write and read, and numbers in the memory
 * are changed in between.
 *
 * <p>Neither side throws an exception. Frames are in the reader's memory, except for the payload of a large frame,
 * which may be in the ring. They do not overlap, and a poll returns at most as many as requested. A poll that returns
 * nothing leaves nothing, unless the ring is broken. A broken ring stays broken. The writer never writes over memory
 * that the reader has not released. While nothing was changed, each frame is read once and in order.
 */
public final class RingTarget implements FuzzTarget {
    /** Much smaller than the rings of processes, so that few bytes are copied until the ring is full. */
    private static final int CAPACITY = 1 << 14;

    /** The maximum record and the unused rest before it may exceed the ring. */
    private static final int BURST_BYTES = CAPACITY / 2;

    private static final int BURST_FRAMES = 64;
    private static final int SOURCE_PORT = 0xc123;

    /** Polls at the end of an input. The rest of a ring of tiny frames is left. */
    private static final int LAST_POLLS = 16;

    private static final int MAX_STEPS = 64;
    private static final int MAX_PENDING = CAPACITY / RingParts.ALIGNMENT * BURST_FRAMES;

    private final MemorySegment memory = Arena.ofAuto().allocate(RingLayout.RECORDS + CAPACITY, 4096);
    private final MemorySegment copies = Arena.ofAuto().allocate(RingParts.COPIES_BYTES, 64);
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), BURST_BYTES);
    private final ReceiveBurst received = new ReceiveBurst(BURST_FRAMES);

    private RingReader reader = RingParts.reader(memory, copies);
    private RingWriter writer = RingParts.writer(memory);

    /** The numbers that the writer and the reader have written last. Only these two change them. */
    private long tail;

    private long head;

    /** The frames of the last poll, whose memory the next poll releases. */
    private int lastCount;

    /** False after the head, or anything else, was changed. */
    private boolean isHeadTrue;

    private boolean isAllTrue;

    /** The queue of the offsets and lengths of the frames that were written and not read. */
    private final long[] pending = new long[MAX_PENDING];

    private int firstPending;
    private int pendingCount;

    /** The memory to zero after the input: the records up to an offset, and changed numbers. */
    private long dirtyEnd;

    private final long[] changes = new long[MAX_STEPS];
    private int changeCount;

    /** Creates the target. */
    public RingTarget() {
        for (long i = 0; i < BURST_BYTES; i++) {
            burst.segment().set(JAVA_BYTE, i, (byte) (i * 31 + (i >> 8)));
        }
    }

    @Override
    public void run(byte[] input) {
        reader = RingParts.reader(memory, copies);
        writer = RingParts.writer(memory);
        tail = 0;
        head = 0;
        lastCount = 0;
        isHeadTrue = true;
        isAllTrue = true;
        firstPending = 0;
        pendingCount = 0;
        dirtyEnd = 0;
        changeCount = 0;
        try {
            Script script = new Script(input);
            for (int steps = 0; steps < MAX_STEPS && !script.isAtEnd(); steps++) {
                step(script);
            }
            int polls = 0;
            while (poll(BURST_FRAMES) > 0 && ++polls < LAST_POLLS) {}
        } finally {
            clean();
        }
    }

    private void clean() {
        memory.asSlice(RingLayout.RECORDS, Math.min(dirtyEnd, CAPACITY)).fill((byte) 0);
        for (int i = 0; i < changeCount; i++) {
            memory.set(JAVA_INT_UNALIGNED, changes[i], 0);
        }
        memory.set(JAVA_LONG, RingParts.TAIL, 0);
        memory.set(JAVA_LONG, RingParts.HEAD, 0);
        memory.set(JAVA_INT, RingParts.ASLEEP, 0);
    }

    private void step(Script script) {
        switch (script.u8() & 7) {
            case 0 -> {
                int _ = poll(script.u8() % (BURST_FRAMES + 1));
            }
            case 1 -> write(script.u16() % (SendBurst.MAX_FRAME_BYTES + 1), script.u8() % BURST_FRAMES, script.u16());
            case 2 -> change(RingParts.TAIL, number(script, head));
            case 3 -> change(RingParts.HEAD, number(script, tail));
            case 4 -> {
                long record = head + (long) RingParts.ALIGNMENT * script.u8() & CAPACITY - 1;
                change(RingLayout.RECORDS + record + (long) Integer.BYTES * script.choice(4), script.near());
            }
            case 5 -> {
                long offset = Integer.toUnsignedLong(script.s32()) % (memory.byteSize() - Integer.BYTES + 1);
                change(offset, script.s32());
            }
            case 6 -> wait(script.choice(4), script);
            default -> {
                for (int rounds = script.choice(8); rounds > 0; rounds--) {
                    write(SendBurst.MAX_FRAME_BYTES, BURST_FRAMES, 0);
                    int _ = poll(BURST_FRAMES);
                }
            }
        }
    }

    /** Returns a number near another one, or a multiple of the alignment away from it, or an arbitrary number. */
    private static long number(Script script, long from) {
        return switch (script.choice(4)) {
            case 0 -> from + (long) RingParts.ALIGNMENT * script.near();
            case 1 -> from + script.near();
            case 2 -> from + CAPACITY + script.near();
            default -> script.s64();
        };
    }

    // ---- changes by the other process

    private void change(int offset, long value) {
        isAllTrue = false;
        isHeadTrue &= offset != RingParts.HEAD;
        memory.set(JAVA_LONG, offset, value);
    }

    private void change(long offset, int value) {
        isAllTrue = false;
        isHeadTrue &= offset <= RingParts.HEAD - Integer.BYTES || offset >= RingParts.HEAD + Long.BYTES;
        memory.set(JAVA_INT_UNALIGNED, offset, value);
        changes[changeCount++] = offset;
    }

    // ---- the writer

    private void write(int frameBytes, int frames, int lastBytes) {
        burst.clear();
        if ((lastBytes & 1) == 1) {
            burst.withoutIcrc();
        }
        while (burst.count() < frames && burst.hasRoom(frames)) {
            burst.append(frameBytes);
        }
        if (burst.hasRoom(BURST_FRAMES)) {
            burst.append(frameBytes == 0 ? 0 : 1 + lastBytes % frameBytes);
        }
        long before = memory.get(JAVA_LONG, RingParts.TAIL);
        boolean wasBroken = writer.isBroken();
        int recordBytes = RingParts.recordBytes(burst.tail());
        if (writer.write(burst, SOURCE_PORT)) {
            if (burst.tail() > 0) {
                Invariant.holds(!wasBroken, "nothing is written to a broken ring");
                written(memory.get(JAVA_LONG, RingParts.TAIL), recordBytes);
            }
        } else {
            Invariant.equal(memory.get(JAVA_LONG, RingParts.TAIL), before, "tail after a write that was refused");
            Invariant.holds(!wasBroken || writer.isBroken(), "a broken ring stays broken");
            long headInMemory = memory.get(JAVA_LONG, RingParts.HEAD);
            Invariant.holds(
                    writer.isBroken() || headInMemory >= 0 && headInMemory <= tail,
                    "an impossible head breaks the ring");
            Invariant.holds(!isAllTrue || !writer.isBroken(), "an unchanged ring is not broken");
            Invariant.holds(
                    !isAllTrue || CAPACITY - (tail - head) < 2L * recordBytes, "a burst that fits is not refused");
        }
    }

    private void written(long newTail, int recordBytes) {
        long at = tail & CAPACITY - 1;
        long end = at + recordBytes;
        long advance = end > CAPACITY ? CAPACITY - at + recordBytes : recordBytes;
        Invariant.equal(newTail, tail + advance, "tail after a write");
        Invariant.holds(!isHeadTrue || newTail - head <= CAPACITY, "unreleased memory is not overwritten");
        dirtyEnd = Math.max(dirtyEnd, Math.min(end, CAPACITY));
        tail = newTail;
        if (isAllTrue) {
            for (int i = 0; i < burst.count(); i++) {
                pending[(firstPending + pendingCount++) % MAX_PENDING] = (long) burst.offset(i) << 32 | burst.length(i);
            }
        }
    }

    // ---- the reader

    private int poll(int most) {
        boolean wasBroken = reader.isBroken();
        long tailInMemory = memory.get(JAVA_LONG, RingParts.TAIL);
        // The reader writes its head only if that has changed.
        long headInMemory = memory.get(JAVA_LONG, RingParts.HEAD);
        memory.set(JAVA_LONG, RingParts.HEAD, head);
        received.clear();
        int count = reader.poll(received, most);
        long newHead = memory.get(JAVA_LONG, RingParts.HEAD);
        if (newHead == head) {
            memory.set(JAVA_LONG, RingParts.HEAD, headInMemory);
        }
        Invariant.equal(received.count(), count, "frames in the burst");
        Invariant.atMost(count, Math.min(most, RingParts.FRAMES), "frames of a poll");
        Invariant.holds(
                !wasBroken || count == 0 && reader.isBroken() && (newHead == head || lastCount > 0),
                "a broken ring stays broken");
        Invariant.holds(!isAllTrue || !reader.isBroken(), "an unchanged ring is not broken");
        // The rest of a record, and what the tail permits after that.
        Invariant.holds(newHead >= head && newHead - head <= 2L * CAPACITY, "the work of a poll is bounded");
        Invariant.holds((newHead & RingParts.ALIGNMENT - 1) == 0, "records are aligned");
        Invariant.holds(
                count > 0 || most == 0 || reader.isBroken() || tailInMemory == newHead,
                "a poll without frames leaves nothing");
        head = newHead;
        lastCount = count;
        for (int i = 0; i < count; i++) {
            check(received.frame(i), i == 0 ? 0 : received.frame(i - 1).offset + received.frame(i - 1).length);
        }
        return count;
    }

    private void check(Frame frame, int from) {
        Invariant.holds(frame.segment.equals(copies), "a frame is in the reader's memory");
        int copied = frame.isSplit ? Frame.SPLIT_BYTES : frame.length;
        if (frame.isSplit) {
            Invariant.holds(
                    !frame.isSealed && frame.body.equals(memory), "the payload of a split frame is in the ring");
            Invariant.holds(
                    frame.bodyOffset >= RingLayout.RECORDS
                            && frame.bodyOffset + frame.length <= RingLayout.RECORDS + CAPACITY
                            && frame.length >= Frame.SPLIT_BYTES,
                    "a split frame is within the records");
        }
        Invariant.holds(frame.length >= 1 && frame.length <= SendBurst.MAX_FRAME_BYTES, "the length of a frame");
        Invariant.holds(
                frame.offset >= from && frame.offset + frame.length <= RingParts.COPIES_BYTES, "frames do not overlap");
        Invariant.holds(
                frame.sourcePort >>> 16 == 0 && frame.trafficClass >>> 8 == 0 && frame.identification >= 0,
                "the fields of a frame are in their range");
        if (isAllTrue) {
            Invariant.holds(pendingCount > 0, "only frames that were written are read");
            long expected = pending[firstPending];
            firstPending = (firstPending + 1) % MAX_PENDING;
            pendingCount--;
            Invariant.equal(frame.length, expected & 0xffff_ffffL, "length of a frame");
            long offset = expected >>> 32;
            checkBytes(copies, frame.offset, offset, copied);
            if (frame.isSplit) {
                checkBytes(memory, frame.bodyOffset + copied, offset + copied, frame.length - copied);
            }
        }
    }

    private void checkBytes(MemorySegment in, long at, long offset, int length) {
        Invariant.equal(
                MemorySegment.mismatch(in, at, at + length, burst.segment(), offset, offset + length),
                -1,
                "bytes of a frame");
    }

    // ---- waiting

    private void wait(int choice, Script script) {
        switch (choice) {
            case 0 -> {
                boolean mayWait = reader.beginWait();
                Invariant.holds(
                        lastCount > 0 || mayWait == (memory.get(JAVA_LONG, RingParts.TAIL) == head),
                        "a reader waits if nothing is pending");
                Invariant.holds(!isAllTrue || mayWait == (pendingCount == 0), "a reader waits if all frames were read");
            }
            case 1 -> reader.endWait();
            case 2 -> {
                isAllTrue = false;
                memory.set(JAVA_INT, RingParts.ASLEEP, script.near());
            }
            default -> {
                boolean isAsleep = memory.get(JAVA_INT, RingParts.ASLEEP) == 1;
                Invariant.holds(writer.mustWakeReader() == isAsleep, "a reader that waits is woken");
                Invariant.holds(!writer.mustWakeReader(), "a reader is woken once");
            }
        }
    }

    // ---- seeds

    private static ScriptWriter write(ScriptWriter seed, int frameBytes, int frames, int lastBytes) {
        return seed.u8(1).u16(frameBytes).u8(frames).u16(lastBytes);
    }

    @Override
    public Stream<byte[]> seeds() {
        ScriptWriter ordinary = new ScriptWriter();
        write(write(write(ordinary, 48, 0, 47), 300, 9, 20), 4096, 3, 0).u8(0, 5, 6, 0, 0, 64, 6, 0);
        write(ordinary, 64, 1, 1).u8(6, 3, 0, 64, 6, 1);

        ScriptWriter wrapping = new ScriptWriter().u8(7, 1);
        write(wrapping, 3000, 1, 2999).u8(7, 1, 0, 64);
        for (int i = 0; i < 3; i++) {
            write(wrapping, SendBurst.MAX_FRAME_BYTES, 63, 1); // until it is full
        }
        wrapping.u8(0, 3, 0, 64, 7, 5);

        ScriptWriter tails = new ScriptWriter();
        write(tails, 48, 2, 0).u8(0, 1).u8(2, 0, 3, 0, 64, 2, 1, 1, 0, 64, 2, 2, 0, 0, 64);
        ScriptWriter negative = new ScriptWriter();
        write(negative, 48, 0, 47).u8(2, 0, -1, 0, 64);
        ScriptWriter any = new ScriptWriter();
        write(any, 48, 0, 47).u8(2, 3).s64(Long.MIN_VALUE).u8(0, 64);

        ScriptWriter lengths = new ScriptWriter();
        write(write(lengths, 100, 5, 9), 100, 5, 9)
                .u8(0, 2, 4, 0, 0, 0x80)
                .s32(1 << 20)
                .u8(0, 64);
        ScriptWriter eachByte = new ScriptWriter();
        write(eachByte, 300, 8, 9).u8(4, 0, 1, 1, 0, 64, 0, 64, 0, 64);
        ScriptWriter tooLong = new ScriptWriter();
        write(tooLong, 3900, 1, 3899)
                .u8(4, 0, 1, 0x80)
                .s32(SendBurst.MAX_FRAME_BYTES + 1)
                .u8(0, 64);
        ScriptWriter padding = new ScriptWriter().u8(7, 1);
        write(padding, 3000, 1, 2999).u8(4, 0, 0, -1, 0, 64);

        ScriptWriter beyondTheEnd = new ScriptWriter().u8(7, 3);
        write(beyondTheEnd, 3000, 0, 2999)
                .u8(2, 2, 0, 4, 0, 0, 0x80)
                .s32(4000)
                .u8(4, 0, 1, 0x80)
                .s32(4000)
                .u8(0, 1);

        ScriptWriter heads = new ScriptWriter();
        write(heads, 48, 2, 0).u8(0, 3, 3, 0, 1, 7, 4, 3, 2, 0, 7, 4);
        ScriptWriter flags = new ScriptWriter();
        write(flags.u8(6, 2, 2), 48, 2, 0)
                .u8(6, 3, 6, 0, 6, 3, 5)
                .s32(RingParts.ASLEEP + 2)
                .s32(-1)
                .u8(6, 3);
        return Stream.of(
                        ordinary,
                        wrapping,
                        tails,
                        negative,
                        any,
                        lengths,
                        eachByte,
                        tooLong,
                        padding,
                        beyondTheEnd,
                        heads,
                        flags)
                .map(ScriptWriter::bytes);
    }
}
