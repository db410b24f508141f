package io.rdma4j.sockets.stream;

/**
 * The sizes to which the buffers of a stream may grow while data flows. A buffer keeps its initial size
 * ({@link StreamSizes}) if the limit is not above that size.
 *
 * @param sendBytes maximum size of the send buffer in bytes; 0 if it does not grow
 * @param receiveBytes maximum size of the receive buffer in bytes; 0 if it does not grow
 */
public record BufferLimits(int sendBytes, int receiveBytes) {
    private static final int INITIAL_CREDITS = 64;

    /** Buffers of a fixed size. */
    public static final BufferLimits FIXED = new BufferLimits(0, 0);

    /** Returns these limits with a send buffer of a fixed size. */
    public BufferLimits withFixedSend() {
        return new BufferLimits(0, receiveBytes);
    }

    /** Returns these limits with a receive buffer of a fixed size. */
    public BufferLimits withFixedReceive() {
        return new BufferLimits(sendBytes, 0);
    }

    /**
     * Returns the initial credit: the number of messages that the peer may send before it is granted more, and of
     * receives to post in advance. If the receive buffer may grow, a peer that sends many messages is granted more, up
     * to the size of the receive queue.
     */
    public int initialCredits(StreamSizes sizes) {
        return receiveBytes == 0 ? sizes.receiveQueue() : Math.min(sizes.receiveQueue(), INITIAL_CREDITS);
    }

    /** Returns twice the size, but at most the limit. */
    static int doubled(int bytes, int limit) {
        return (int) Math.min(2L * bytes, limit);
    }
}
