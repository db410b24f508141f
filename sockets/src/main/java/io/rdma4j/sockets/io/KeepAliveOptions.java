package io.rdma4j.sockets.io;

import java.net.SocketOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import jdk.net.ExtendedSocketOptions;

/**
 * The options {@code TCP_KEEPIDLE}, {@code TCP_KEEPINTERVAL} and {@code TCP_KEEPCOUNT}. They belong to the module {@code
 * jdk.net}, which a Java runtime may lack.
 *
 * <p>The last two are about unanswered probes of TCP. A reliable connection repeats what is unanswered by itself, so they
 * are stored and have no effect, as in librdmacm.
 */
final class KeepAliveOptions {
    /** The default of Linux in seconds. */
    private static final int DEFAULT_IDLE_SECONDS = 7200;

    /** The default of Linux in seconds, of an option without an effect. */
    private static final int DEFAULT_INTERVAL_SECONDS = 75;

    /** The default of Linux, of an option without an effect. */
    private static final int DEFAULT_COUNT = 9;

    /** The options and their defaults, empty if this process has no module {@code jdk.net}. */
    static final Map<SocketOption<?>, Integer> DEFAULTS = find();

    private KeepAliveOptions() {}

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

    /** Returns a set of options with these, if there are any. */
    static Set<SocketOption<?>> with(Set<SocketOption<?>> others) {
        Set<SocketOption<?>> all = new HashSet<>(others);
        all.addAll(DEFAULTS.keySet());
        return Set.copyOf(all);
    }

    /** Returns the value of {@code TCP_KEEPIDLE} in seconds, or the default if it has none. */
    static int idleSecondsIn(Map<SocketOption<?>, Object> values) {
        return !DEFAULTS.isEmpty() && values.get(ExtendedSocketOptions.TCP_KEEPIDLE) instanceof Integer seconds
                ? seconds
                : DEFAULT_IDLE_SECONDS;
    }
}
