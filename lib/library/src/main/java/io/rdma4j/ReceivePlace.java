package io.rdma4j;

import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A place for one message or datagram: memory that is posted until data have arrived in it, and then used by the program until it
 * is closed.
 */
abstract sealed class ReceivePlace implements AutoCloseable permits Message, Datagram {
    private final ReceiveQueue<?> queue;
    private final int number;
    private final Buffer whole;
    private Buffer content;
    private boolean hasImmediate;
    private int immediate;
    private final AtomicBoolean isOpen = new AtomicBoolean();

    ReceivePlace(ReceiveQueue<?> queue, int number, Buffer whole) {
        this.queue = queue;
        this.number = number;
        this.whole = whole;
        content = whole;
    }

    int number() {
        return number;
    }

    Buffer whole() {
        return whole;
    }

    /** Takes the data that have arrived. */
    abstract void open(WorkCompletion completion);

    /** Takes the data that have arrived in a part of the place. */
    final void open(WorkCompletion completion, long offsetBytes, long lengthBytes) {
        if (content.lengthBytes() != lengthBytes || content.offsetBytes() != whole.offsetBytes() + offsetBytes) {
            content = whole.slice(offsetBytes, lengthBytes);
        }
        hasImmediate = completion.hasImmediate();
        immediate = completion.immediate();
        isOpen.set(true);
    }

    /**
     * Returns the data that have arrived as a buffer, which can be sent as a reply without a copy.
     *
     * @throws IllegalStateException if this object is closed
     */
    public Buffer buffer() {
        requireOpen();
        return content;
    }

    /**
     * Returns the bytes that have arrived.
     *
     * @throws IllegalStateException if this object is closed
     */
    public MemorySegment memory() {
        return buffer().memory();
    }

    /**
     * Returns the length in bytes.
     *
     * @throws IllegalStateException if this object is closed
     */
    public long lengthBytes() {
        return buffer().lengthBytes();
    }

    /**
     * Returns whether the sender has added 32 bits of immediate data.
     *
     * @throws IllegalStateException if this object is closed
     */
    public boolean hasImmediate() {
        requireOpen();
        return hasImmediate;
    }

    /**
     * Returns the immediate data, 0 if there are none.
     *
     * @throws IllegalStateException if this object is closed
     */
    public int immediate() {
        requireOpen();
        return hasImmediate ? immediate : 0;
    }

    final void requireOpen() {
        if (!isOpen.get()) {
            throw new IllegalStateException("it is closed: its place may have been used again");
        }
    }

    final boolean isOpen() {
        return isOpen.get();
    }

    /** Returns the place to its queue. Closing again has no effect until the object is reused. */
    @Override
    public void close() {
        if (isOpen.compareAndSet(true, false)) {
            boolean isPosted = false;
            try {
                queue.post(this);
                isPosted = true;
            } finally {
                if (!isPosted) { // for lack of stack or memory: closing again tries again
                    isOpen.set(true);
                }
            }
        }
    }
}
