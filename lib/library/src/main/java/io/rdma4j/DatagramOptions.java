package io.rdma4j;

/**
 * The sizes of a datagram socket. Immutable.
 *
 * @param sends the maximum number of datagrams that are being sent, from 1; further ones wait
 * @param receives the number of datagrams that can arrive before the program takes one, from 1; further ones are lost
 * @param receiveBytes the maximum length of a received datagram, from 1; longer ones are lost
 */
public record DatagramOptions(int sends, int receives, int receiveBytes) {
    private static final int DEFAULT_COUNT = 128;
    private static final int DEFAULT_BYTES = 4096;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is less than 1
     */
    public DatagramOptions {
        ConnectionOptions.requireAtLeast("sends", sends, 1);
        ConnectionOptions.requireAtLeast("receives", receives, 1);
        ConnectionOptions.requireAtLeast("receive bytes", receiveBytes, 1);
    }

    /** Returns the defaults: 128 sends, 128 receives of 4096 bytes, the longest datagram of any device. */
    public static DatagramOptions defaults() {
        return new DatagramOptions(DEFAULT_COUNT, DEFAULT_COUNT, DEFAULT_BYTES);
    }

    /** Returns these options with another maximum number of datagrams that are being sent. */
    public DatagramOptions withSends(int value) {
        return new DatagramOptions(value, receives, receiveBytes);
    }

    /** Returns these options with another number and maximum length of received datagrams. */
    public DatagramOptions withReceives(int count, int bytes) {
        return new DatagramOptions(sends, count, bytes);
    }
}
