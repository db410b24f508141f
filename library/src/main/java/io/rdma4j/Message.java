package io.rdma4j;

import java.lang.foreign.MemorySegment;

/**
 * A message that the peer has sent. It occupies one of the places for messages of its connection until it is closed, so a program that
 * keeps all of them makes the peer wait.
 *
 * <p>The object and its memory are used again for another message after {@link #close}: a program must not use them any longer then.
 * Thread safe, but the content is for one user at a time.
 */
public final class Message implements AutoCloseable {
    private final ReceiveQueue queue;
    private final int place;
    private final Buffer whole;
    private Buffer content;
    private boolean hasImmediate;
    private int immediate;
    private volatile boolean isOpen;

    Message(ReceiveQueue queue, int place, Buffer whole) {
        this.queue = queue;
        this.place = place;
        this.whole = whole;
        content = whole;
    }

    int place() {
        return place;
    }

    Buffer whole() {
        return whole;
    }

    /** Takes a message that has arrived. */
    void open(long lengthBytes, boolean carriesImmediate, int immediateData) {
        if (content.lengthBytes() != lengthBytes) {
            content = whole.slice(0, lengthBytes);
        }
        hasImmediate = carriesImmediate;
        immediate = immediateData;
        isOpen = true;
    }

    /**
     * Returns the message as a buffer, which can be sent as a reply without a copy.
     *
     * @throws IllegalStateException if the message is closed
     */
    public Buffer buffer() {
        requireOpen();
        return content;
    }

    /**
     * Returns the bytes of the message.
     *
     * @throws IllegalStateException if the message is closed
     */
    public MemorySegment memory() {
        return buffer().memory();
    }

    /**
     * Returns the length in bytes.
     *
     * @throws IllegalStateException if the message is closed
     */
    public long lengthBytes() {
        return buffer().lengthBytes();
    }

    /** Returns whether the peer has sent 32 bits of immediate data with the message. */
    public boolean hasImmediate() {
        requireOpen();
        return hasImmediate;
    }

    /** Returns the immediate data, 0 if there are none. */
    public int immediate() {
        requireOpen();
        return hasImmediate ? immediate : 0;
    }

    private void requireOpen() {
        if (!isOpen) {
            throw new IllegalStateException("the message is closed");
        }
    }

    /** Gives the place back, for another message. Closing again has no effect, until the object is used for another message. */
    @Override
    public void close() {
        if (isOpen) {
            isOpen = false;
            queue.post(this);
        }
    }

    @Override
    public String toString() {
        return isOpen ? "message of " + content.lengthBytes() + " bytes" : "closed message";
    }
}
