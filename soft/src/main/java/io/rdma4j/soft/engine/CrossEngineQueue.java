package io.rdma4j.soft.engine;

import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Frames that came to another engine of this process than the one they are for: that engine puts copies of them here, this
 * one takes them with its next duty cycle. What does not fit is dropped, as by a socket whose buffer is full. Takes its
 * memory with the first frame; allocates nothing after that.
 */
final class CrossEngineQueue {
    /** Frames that wait at most; a power of two. */
    static final int FRAMES = 256;

    private static final int SLOT_BYTES = SendBurst.MAX_FRAME_BYTES + 64;
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(CrossEngineQueue.class, "head", long.class);
            TAIL = lookup.findVarHandle(CrossEngineQueue.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Who takes what was handed over: the receiver of the engine. */
    @FunctionalInterface
    interface Taker {
        /** Takes a frame, which is valid during the call. */
        void onHandedOver(long nowNanos, SharedPort port, Frame frame);
    }

    /** Copies of frames, and the main engine's ports of the addresses that they came to. */
    private static final class Store {
        private final MemorySegment memory = Arena.ofAuto().allocate((long) FRAMES * SLOT_BYTES, 64);
        private final ByteBuffer view = memory.asByteBuffer();
        private final Frame[] frames = new Frame[FRAMES];
        private final @Nullable SharedPort[] ports = new @Nullable SharedPort[FRAMES];

        Store() {
            for (int i = 0; i < FRAMES; i++) {
                frames[i] = new Frame();
            }
        }
    }

    /** Of those that put something here. */
    private final SpinLock producers = new SpinLock();

    private @Nullable Store store;

    @SuppressWarnings("UnusedVariable") // by HEAD
    private long head;

    @SuppressWarnings("UnusedVariable") // by TAIL
    private long tail;

    /** Whether nothing waits. Any thread. */
    boolean isEmpty() {
        return (long) TAIL.getVolatile(this) == (long) HEAD.getOpaque(this);
    }

    /**
     * Puts a copy of a frame here. Any thread.
     *
     * @return false if there is no room
     */
    boolean put(SharedPort port, Frame frame) {
        if (frame.length > SLOT_BYTES) {
            return false;
        }
        producers.lock();
        try {
            long at = (long) TAIL.getOpaque(this);
            if (at - (long) HEAD.getAcquire(this) >= FRAMES) {
                return false;
            }
            Store places = store;
            if (places == null) {
                places = new Store();
                store = places;
            }
            int i = (int) at & (FRAMES - 1);
            MemorySegment.copy(frame.segment, frame.offset, places.memory, (long) i * SLOT_BYTES, frame.length);
            Frame copy = places.frames[i];
            copy.set(frame);
            copy.segment = places.memory;
            copy.buffer = places.view;
            copy.offset = i * SLOT_BYTES;
            places.ports[i] = port;
            TAIL.setVolatile(this, at + 1);
            return true;
        } finally {
            producers.unlock();
        }
    }

    /** Gives the taker what waits; returns how many frames. Under the lock of the engine that takes. */
    int drain(long nowNanos, Taker taker) {
        long from = (long) HEAD.getOpaque(this);
        long to = (long) TAIL.getAcquire(this);
        Store places = store;
        if (from == to || places == null) {
            return 0;
        }
        for (long at = from; at < to; at++) {
            int i = (int) at & (FRAMES - 1);
            SharedPort port = places.ports[i];
            if (port != null) {
                taker.onHandedOver(nowNanos, port, places.frames[i]);
            }
            HEAD.setRelease(this, at + 1);
        }
        return (int) (to - from);
    }
}
