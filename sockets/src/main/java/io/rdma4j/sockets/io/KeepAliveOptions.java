package io.rdma4j.sockets.io;

import java.net.SocketOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
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
    static final Map<SocketOption<?>, Integer> DEFAULTS = find();

    /** Other options of that module, which have an effect only over TCP, with their defaults. */
    static final Map<SocketOption<?>, Object> OF_TCP = findOfTcp();

    /** Maximum of the two times in seconds, as in Linux. */
    private static final int MAX_SECONDS = 32_767;

    /** Maximum of the number of probes, as in Linux. */
    private static final int MAX_COUNT = 127;

    private KeepAliveOptions() {}

    private static Map<SocketOption<?>, Object> findOfTcp() {
        return DEFAULTS.isEmpty()
                ? Map.of()
                : Map.of(ExtendedSocketOptions.TCP_QUICKACK, true, ExtendedSocketOptions.SO_INCOMING_NAPI_ID, 0);
    }

    /** Returns whether an option of {@link #DEFAULTS} or {@link #OF_TCP} accepts a value. */
    static boolean accepts(SocketOption<?> option, int value) {
        if (option.equals(ExtendedSocketOptions.SO_INCOMING_NAPI_ID)) {
            return false; // it can only be read
        }
        return value <= (option.equals(ExtendedSocketOptions.TCP_KEEPCOUNT) ? MAX_COUNT : MAX_SECONDS);
    }

    private static Map<SocketOption<?>, Integer> find() {
        Map<SocketOption<?>, Integer> options = new HashMap<>();
        try {
            options.put(ExtendedSocketOptions.TCP_KEEPIDLE, DEFAULT_IDLE_SECONDS);
            options.put(ExtendedSocketOptions.TCP_KEEPINTERVAL, DEFAULT_INTERVAL_SECONDS);
            options.put(ExtendedSocketOptions.TCP_KEEPCOUNT, DEFAULT_COUNT);
        } catch (NoClassDefFoundError noModule) {
            return Map.of();
        }
        return Map.copyOf(options);
    }

    /** Returns a set of options, extended by the options of this class that the process has. */
    static Set<SocketOption<?>> with(Set<SocketOption<?>> others) {
        Set<SocketOption<?>> all = new HashSet<>(others);
        all.addAll(DEFAULTS.keySet());
        all.addAll(OF_TCP.keySet());
        return Set.copyOf(all);
    }

    /** Returns the times for option values, with the defaults of options that are not set. */
    static KeepAliveTimes timesIn(Map<SocketOption<?>, Object> values) {
        if (DEFAULTS.isEmpty()) {
            return new KeepAliveTimes(DEFAULT_IDLE_SECONDS, (long) DEFAULT_INTERVAL_SECONDS * DEFAULT_COUNT);
        }
        long limitSeconds = (long) valueIn(values, ExtendedSocketOptions.TCP_KEEPINTERVAL)
                * valueIn(values, ExtendedSocketOptions.TCP_KEEPCOUNT);
        return new KeepAliveTimes(valueIn(values, ExtendedSocketOptions.TCP_KEEPIDLE), limitSeconds);
    }

    private static int valueIn(Map<SocketOption<?>, Object> values, SocketOption<Integer> option) {
        return values.get(option) instanceof Integer value ? value : DEFAULTS.getOrDefault(option, 0);
    }
}
