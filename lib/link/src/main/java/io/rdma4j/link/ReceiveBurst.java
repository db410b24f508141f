package io.rdma4j.link;

import io.rdma4j.wire.Frame;

/**
 * The frames that one {@link Link#poll} has received. They are views into memory of the link, valid until the link is
 * polled again. Not thread safe.
 */
public final class ReceiveBurst {
    private final Frame[] frames;
    private int count;

    /**
     * Creates an empty burst.
     *
     * @param capacity maximum number of frames that one poll returns, at least 1
     */
    public ReceiveBurst(int capacity) {
        frames = new Frame[capacity];
        for (int i = 0; i < capacity; i++) {
            frames[i] = new Frame();
        }
    }

    /** Returns the maximum number of frames that the burst can hold. */
    public int capacity() {
        return frames.length;
    }

    /** Returns the number of frames. */
    public int count() {
        return count;
    }

    /** Returns whether the burst is full. */
    public boolean isFull() {
        return count == frames.length;
    }

    /** Returns frame {@code index}, which must be less than {@link #count}. */
    public Frame frame(int index) {
        return frames[index];
    }

    /** Removes all frames. */
    public void clear() {
        count = 0;
    }

    /** Adds a frame for a link to fill, and returns it. It has an ICRC and is not split. The burst must not be full. */
    public Frame add() {
        Frame frame = frames[count++];
        frame.isSealed = true;
        frame.isSplit = false;
        return frame;
    }

    /** Removes the frame that was added last. */
    public void removeLast() {
        count--;
    }
}
