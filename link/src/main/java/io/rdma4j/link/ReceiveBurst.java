package io.rdma4j.link;

import io.rdma4j.wire.Frame;

/**
 * Frames that one {@link Link#poll} has taken in. The frames are views into memory of the link, valid until the link is
 * polled again. Not thread safe.
 */
public final class ReceiveBurst {
    private final Frame[] frames;
    private int count;

    /**
     * Creates an empty burst.
     *
     * @param capacity most frames that one poll fills in, at least 1
     */
    public ReceiveBurst(int capacity) {
        frames = new Frame[capacity];
        for (int i = 0; i < capacity; i++) {
            frames[i] = new Frame();
        }
    }

    /** Most frames that the burst can hold. */
    public int capacity() {
        return frames.length;
    }

    /** Number of frames. */
    public int count() {
        return count;
    }

    /** Whether no further frame fits. */
    public boolean isFull() {
        return count == frames.length;
    }

    /** Frame {@code index}, below {@link #count}. */
    public Frame frame(int index) {
        return frames[index];
    }

    /** Empties the burst. */
    public void clear() {
        count = 0;
    }

    /** Adds a frame for a link to fill; the burst must not be full. */
    public Frame add() {
        return frames[count++];
    }

    /** Takes back the frame that was added last. */
    public void removeLast() {
        count--;
    }
}
