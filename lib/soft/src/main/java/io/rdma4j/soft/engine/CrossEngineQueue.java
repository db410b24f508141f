package io.rdma4j.soft.engine;

import io.rdma4j.link.SendBurst;
import io.rdma4j.sharing.Port;
import io.rdma4j.verbs.spi.SpinLock;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of frames that arrived at a different engine of this process than their queue pair's.
 *
 * <p>The other engine enqueues copies, and this engine drains them in its next duty cycle. Frames are dropped if the queue is
 * full, like at a socket with a full buffer. The memory is allocated with the first frame; nothing is allocated after that.
 */
final class CrossEngineQueue {
    /** The capacity in frames; a power of two. */
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

    /** Handles the frames that are drained; the engine's receiver. */
    @FunctionalInterface
    interface FrameHandler {
        /** Processes a frame, which is valid during the call. */
        void onHandedOver(long nowNanos, Port port, Frame frame);
    }

    /** Copies of frames, and the main engine's ports of the addresses that they arrived at. */
    private static final class Store {
        private final MemorySegment memory = Arena.ofAuto().allocate((long) FRAMES * SLOT_BYTES, 64);
        private final ByteBuffer view = memory.asByteBuffer();
        private final Frame[] frames = new Frame[FRAMES];
        private final @Nullable Port[] ports = new @Nullable Port[FRAMES];

        Store() {
            for (int i = 0; i < FRAMES; i++) {
                frames[i] = new Frame();
            }
        }
    }

    /** Serializes the producers. */
    private final SpinLock producers = new SpinLock();

    private @Nullable Store store;

    @SuppressWarnings("UnusedVariable") // accessed through HEAD
    private long head;

    @SuppressWarnings("UnusedVariable") // accessed through TAIL
    private long tail;

    /** Returns whether the queue is empty. Any thread. */
    boolean isEmpty() {
        return (long) TAIL.getVolatile(this) == (long) HEAD.getOpaque(this);
    }

    /**
     * Enqueues a copy of a frame. Any thread.
     *
     * @return false if the queue is full or the frame is too long
     */
    boolean enqueue(Port port, Frame frame) {
        if (frame.length > SLOT_BYTES) {
            return false;
        }
        producers.lock();
        try {
            long at = (long) TAIL.getOpaque(this);
            if (at - (long) HEAD.getAcquire(this) >= FRAMES) {
                return false;
            }
            Store slots = store;
            if (slots == null) {
                slots = new Store();
                store = slots;
            }
            int i = (int) at & (FRAMES - 1);
            long slot = (long) i * SLOT_BYTES;
            int headers = frame.isSplit ? Frame.SPLIT_BYTES : frame.length;
            MemorySegment.copy(frame.segment, frame.offset, slots.memory, slot, headers);
            if (frame.isSplit) {
                MemorySegment.copy(
                        frame.body, frame.bodyOffset + headers, slots.memory, slot + headers, frame.length - headers);
            }
            Frame copy = slots.frames[i];
            copy.set(frame);
            copy.isSplit = false;
            copy.segment = slots.memory;
            copy.buffer = slots.view;
            copy.offset = i * SLOT_BYTES;
            slots.ports[i] = port;
            TAIL.setVolatile(this, at + 1);
            return true;
        } finally {
            producers.unlock();
        }
    }

    /** Passes all queued frames to a handler and returns their number. Under the lock of the engine that drains. */
    int drain(long nowNanos, FrameHandler handler) {
        long from = (long) HEAD.getOpaque(this);
        long to = (long) TAIL.getAcquire(this);
        Store slots = store;
        if (from == to || slots == null) {
            return 0;
        }
        for (long at = from; at < to; at++) {
            int i = (int) at & (FRAMES - 1);
            Port port = slots.ports[i];
            if (port != null) {
                handler.onHandedOver(nowNanos, port, slots.frames[i]);
            }
            HEAD.setRelease(this, at + 1);
        }
        return (int) (to - from);
    }
}
