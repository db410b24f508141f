package io.rdma4j.link;

/**
 * A ring in shared memory in which another process of this host writes frames for this process. One thread at a time may use it,
 * even while another thread waits for the link set.
 */
public interface ReceiveRing extends AutoCloseable {
    /**
     * Adds pending frames to a burst, without waiting. They point into memory of the ring, valid until its next poll.
     *
     * @param destinationHigh the address that the frames arrive at, upper half
     * @param destinationLow lower half
     * @param maximum the maximum number of frames to add; the burst must have space for them
     * @return the number of frames
     */
    int poll(ReceiveBurst burst, long destinationHigh, long destinationLow, int maximum);

    /** Returns the number of bytes that the other process has written so far, for {@link #hasReached}. */
    long written();

    /** Returns whether the polls have returned everything up to a number of bytes, or can return nothing more. */
    boolean hasReached(long written);

    /**
     * Returns whether the other process has closed the ring, has exited, or has broken the ring. Everything that can be polled
     * was written before that.
     */
    boolean isEnded();

    /** Checks whether the other process has ended, which a thread that never waits would not notice otherwise. A system call. */
    void checkEnd();

    /** Closes the ring, and releases its memory. Frames of it are no longer valid. */
    @Override
    void close();
}
