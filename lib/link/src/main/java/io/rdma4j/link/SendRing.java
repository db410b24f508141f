package io.rdma4j.link;

/**
 * A ring in shared memory to another process of this host, which frames can be written to instead of being sent. One thread at a
 * time may use it.
 */
public interface SendRing extends AutoCloseable {
    /**
     * Writes all frames of a burst, or none, and wakes the other process if it waits.
     *
     * @param sourcePort the UDP port that the frames would be sent from
     * @return false if the frames were dropped because the other process does not keep up, or has ended
     */
    boolean send(SendBurst burst, int sourcePort);

    /** Returns whether there is space for bursts with this number of bytes in total. */
    boolean hasRoom(int bytes);

    /** Returns whether the other process has closed the ring, has exited, or has broken the ring. */
    boolean isEnded();

    /** Checks whether the other process has ended, which a thread that never waits would not notice otherwise. A system call. */
    void checkEnd();

    /** Closes the ring, and releases its memory. Frames that the other process has not read yet can still be read. */
    @Override
    void close();
}
