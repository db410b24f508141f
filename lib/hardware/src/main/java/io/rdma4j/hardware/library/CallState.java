package io.rdma4j.hardware.library;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Captures {@code errno} after calls. Used by one thread at a time. */
public final class CallState {
    private final MemorySegment captured;

    /** Creates a state, in memory of an arena. */
    public CallState(Arena arena) {
        captured = arena.allocate(Downcalls.errnoLayout());
    }

    MemorySegment captured() {
        return captured;
    }

    /** Returns the error of the last call that failed. */
    public int errno() {
        return Downcalls.errno(captured);
    }
}
