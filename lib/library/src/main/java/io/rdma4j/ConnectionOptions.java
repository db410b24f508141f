package io.rdma4j;

import io.rdma4j.verbs.wait.WaitDriver;
import java.time.Duration;

/**
 * The sizes and times of a connection. Immutable.
 *
 * @param sends the maximum number of operations in flight, from 1; further ones wait
 * @param messages the number of messages that the connection receives before the program takes one, 0 for none; a peer that sends
 *     more waits
 * @param messageBytes the maximum length of a received message; 0 if only writes with immediate data are received
 * @param timeout the time for connecting and for accepting
 * @param operationTimeout the time of each operation that is called without its own timeout, after which the connection ends;
 *     does not apply to {@link Connection#receive()}. Without a limit, an operation takes as long as the device repeats its
 *     packets, about 17 seconds if the peer's host is gone, and a send waits for a place for the message
 * @param closeTimeout the time that {@link Connection#close} waits for operations in flight and for the peer
 */
public record ConnectionOptions(
        int sends, int messages, int messageBytes, Duration timeout, Duration operationTimeout, Duration closeTimeout) {
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
        requireAtLeast("message bytes", messageBytes, 0);
        requirePositive("timeout", timeout);
        requirePositive("operation timeout", operationTimeout);
        requirePositive("close timeout", closeTimeout);
    }

    static void requireAtLeast(String name, int value, int minimum) {
        if (value < minimum) {
            throw new IllegalArgumentException(name + " is " + value + ", must be at least " + minimum);
        }
    }

    private static void requirePositive(String name, Duration value) {
        if (!value.isPositive()) {
            throw new IllegalArgumentException(name + " is " + value + ", must be positive");
        }
    }

    /** Returns the defaults: 128 operations in flight, no messages, 30 seconds to connect or accept, no limit for operations, one second to close. */
    public static ConnectionOptions defaults() {
        return new ConnectionOptions(DEFAULT_SENDS, 0, 0, DEFAULT_TIMEOUT, WaitDriver.CENTURY, DEFAULT_CLOSE_TIMEOUT);
    }

    /** Returns these options with another maximum number of operations in flight. */
    public ConnectionOptions withSends(int value) {
        return new ConnectionOptions(value, messages, messageBytes, timeout, operationTimeout, closeTimeout);
    }

    /** Returns these options with another number and maximum length of received messages. */
    public ConnectionOptions withMessages(int count, int bytes) {
        return new ConnectionOptions(sends, count, bytes, timeout, operationTimeout, closeTimeout);
    }

    /** Returns these options with another time for connecting and accepting. */
    public ConnectionOptions withTimeout(Duration value) {
        return new ConnectionOptions(sends, messages, messageBytes, value, operationTimeout, closeTimeout);
    }

    /** Returns these options with a time for operations that are called without their own timeout. */
    public ConnectionOptions withOperationTimeout(Duration value) {
        return new ConnectionOptions(sends, messages, messageBytes, timeout, value, closeTimeout);
    }

    /** Returns these options with another time to close. */
    public ConnectionOptions withCloseTimeout(Duration value) {
        return new ConnectionOptions(sends, messages, messageBytes, timeout, operationTimeout, value);
    }
}
