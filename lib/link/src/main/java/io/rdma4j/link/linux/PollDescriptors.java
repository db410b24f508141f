package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An array of {@code struct pollfd} for waiting in the kernel. Used by one thread at a time. */
final class PollDescriptors {
    /** In place of a descriptor: never ready. */
    static final int NONE = -1;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** Size of {@code struct pollfd}, and the offsets of its fields. */
    private static final long BYTES = 8;

    private static final int EVENTS = 4;
    private static final int READY = 6;

    private final MemorySegment errno = Posix.newErrno();
    private final MemorySegment timeout = Arena.ofAuto().allocate(16, 8);
    private MemorySegment entries;

    PollDescriptors(int expected) {
        entries = Arena.ofAuto().allocate(expected * BYTES, BYTES);
    }

    /** Ensures space for {@code count} entries. All entries must be set again afterwards. */
    void reserve(int count) {
        if (entries.byteSize() < count * BYTES) {
            entries = Arena.ofAuto().allocate(2L * count * BYTES, BYTES);
        }
    }

    void set(int index, int fd, short events) {
        long offset = index * BYTES;
        entries.set(JAVA_INT, offset, fd);
        entries.set(JAVA_SHORT, offset + EVENTS, events);
        entries.set(JAVA_SHORT, offset + READY, (short) 0);
    }

    /**
     * Waits until one of the first {@code count} descriptors is ready, and returns whether one is. {@link
     * Long#MAX_VALUE} waits indefinitely.
     */
    boolean await(int count, long timeoutNanos) {
        MemorySegment time = MemorySegment.NULL;
        if (timeoutNanos != Long.MAX_VALUE) {
            time = timeout;
            time.set(JAVA_LONG, 0, timeoutNanos / NANOS_PER_SECOND);
            time.set(JAVA_LONG, 8, timeoutNanos % NANOS_PER_SECOND);
        }
        return Posix.ppoll(errno, entries, count, time) > 0;
    }

    /** Returns whether the last wait found the descriptor ready. */
    boolean isReady(int index) {
        return entries.get(JAVA_SHORT, index * BYTES + READY) != 0;
    }
}
