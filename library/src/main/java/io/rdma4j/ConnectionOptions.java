package io.rdma4j;

import java.time.Duration;

/**
 * The sizes and times of a connection. Immutable.
 *
 * @param sends the maximum number of operations in flight, from 1; further ones wait
 * @param messages the number of messages that the connection receives before the program takes one, 0 for none; a peer that sends
 *     more waits
 * @param messageBytes the maximum length of a received message
 * @param timeout the time for connecting and for accepting. Operations have forms with a timeout; without one they wait as long as the
 *     device repeats its packets, which ends if the peer does not answer
 * @param closeTimeout the time that {@link Connection#close} waits for operations in flight and for the peer
 */
public record ConnectionOptions(int sends, int messages, int messageBytes, Duration timeout, Duration closeTimeout) {
    private static final int DEFAULT_SENDS = 128;
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration DEFAULT_CLOSE_TIMEOUT = Duration.ofSeconds(1);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is out of range or a time is not positive
     */
    public ConnectionOptions {
        requireAtLeast("sends", sends, 1);
        requireAtLeast("messages", messages, 0);
        requireAtLeast("message bytes", messageBytes, messages == 0 ? 0 : 1);
        requirePositive("timeout", timeout);
        requirePositive("close timeout", closeTimeout);
    }

    private static void requireAtLeast(String name, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(name + " is " + value + ", must be at least " + least);
        }
    }

    private static void requirePositive(String name, Duration value) {
        if (!value.isPositive()) {
            throw new IllegalArgumentException(name + " is " + value + ", must be positive");
        }
    }

    /** Returns the defaults: 128 operations in flight, no messages, 30 seconds to connect or accept, one second to close. */
    public static ConnectionOptions defaults() {
        return new ConnectionOptions(DEFAULT_SENDS, 0, 0, DEFAULT_TIMEOUT, DEFAULT_CLOSE_TIMEOUT);
    }

    /** Returns these options with another maximum of operations in flight. */
    public ConnectionOptions withSends(int value) {
        return new ConnectionOptions(value, messages, messageBytes, timeout, closeTimeout);
    }

    /** Returns these options with another number and maximum length of received messages. */
    public ConnectionOptions withMessages(int count, int bytes) {
        return new ConnectionOptions(sends, count, bytes, timeout, closeTimeout);
    }

    /** Returns these options with another time for connecting and accepting. */
    public ConnectionOptions withTimeout(Duration value) {
        return new ConnectionOptions(sends, messages, messageBytes, value, closeTimeout);
    }

    /** Returns these options with another time to close. */
    public ConnectionOptions withCloseTimeout(Duration value) {
        return new ConnectionOptions(sends, messages, messageBytes, timeout, value);
    }
}
