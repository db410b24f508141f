package io.rdma4j.sockets.io;

import java.net.SocketException;
import java.net.SocketOption;
import java.util.Map;
import jdk.net.ExtendedSocketOptions;

/**
 * The options {@code TCP_KEEPIDLE}, {@code TCP_KEEPINTERVAL} and {@code TCP_KEEPCOUNT}, and options that have an effect
 * only over TCP. They belong to the module {@code jdk.net}, which a Java runtime may lack.
 *
 * <p>For TCP, {@code TCP_KEEPINTERVAL} and {@code TCP_KEEPCOUNT} are the interval of probes and the number of probes
 * that may stay unanswered. An RDMA connection retransmits by itself, so only the product of both has an effect: the
 * time for which a keep-alive may stay unanswered.
 */
final class KeepAliveOptions {
    /** The default of Linux in seconds. */
    private static final int DEFAULT_IDLE_SECONDS = 7200;

    /** The default of Linux in seconds. */
    private static final int DEFAULT_INTERVAL_SECONDS = 75;

    /** The default of Linux. */
    private static final int DEFAULT_COUNT = 9;

    /** The options and their defaults, empty if this process has no module {@code jdk.net}. */
    static final Map<SocketOption<?>, Object> ALL = find();

    /** Maximum of the two times in seconds, as in Linux. */
    private static final int MAX_SECONDS = 32_767;

    /** Maximum of the number of probes, as in Linux. */
    private static final int MAX_COUNT = 127;

    private KeepAliveOptions() {}

    private static Map<SocketOption<?>, Object> find() {
        try {
            return Map.of(
                    ExtendedSocketOptions.TCP_KEEPIDLE, DEFAULT_IDLE_SECONDS,
                    ExtendedSocketOptions.TCP_KEEPINTERVAL, DEFAULT_INTERVAL_SECONDS,
                    ExtendedSocketOptions.TCP_KEEPCOUNT, DEFAULT_COUNT,
                    ExtendedSocketOptions.TCP_QUICKACK, true,
                    ExtendedSocketOptions.SO_INCOMING_NAPI_ID, 0);
        } catch (NoClassDefFoundError noModule) {
            return Map.of();
        }
    }

    /**
     * Checks the value of a numeric option like Linux.
     *
     * @throws IllegalArgumentException if it is less than 1
     * @throws SocketException if it exceeds the maximum, or if the option can only be read
     */
    static void requireValid(SocketOption<?> option, int value) throws SocketException {
        if (value < 1) {
            throw new IllegalArgumentException(option + " must be at least 1");
        }
        int most = option.equals(ExtendedSocketOptions.SO_INCOMING_NAPI_ID)
                ? 0
                : option.equals(ExtendedSocketOptions.TCP_KEEPCOUNT) ? MAX_COUNT : MAX_SECONDS;
        if (value > most) {
            throw new SocketException("Invalid argument (" + option + " cannot be " + value + ")");
        }
    }

    /** Returns the times for option values. */
    static KeepAliveTimes timesIn(Map<SocketOption<?>, Object> values) {
        if (ALL.isEmpty()) {
            return new KeepAliveTimes(DEFAULT_IDLE_SECONDS, (long) DEFAULT_INTERVAL_SECONDS * DEFAULT_COUNT);
        }
        long limitSeconds = (long) valueIn(values, ExtendedSocketOptions.TCP_KEEPINTERVAL)
                * valueIn(values, ExtendedSocketOptions.TCP_KEEPCOUNT);
        return new KeepAliveTimes(valueIn(values, ExtendedSocketOptions.TCP_KEEPIDLE), limitSeconds);
    }

    private static int valueIn(Map<SocketOption<?>, Object> values, SocketOption<Integer> option) {
        return values.get(option) instanceof Integer value ? value : 0;
    }
}
