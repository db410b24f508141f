package io.rdma4j.sockets.io;

import java.net.SocketOption;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/** The option {@code TCP_KEEPIDLE}. It belongs to the module {@code jdk.net}, which a Java runtime may lack. */
final class KeepIdle {
    /** The default of Linux in seconds. */
    static final int DEFAULT_SECONDS = 7200;

    /** The option, or null if this process has no module {@code jdk.net}. */
    static final @Nullable SocketOption<Integer> OPTION = find();

    private KeepIdle() {}

    private static @Nullable SocketOption<Integer> find() {
        try {
            return ExtendedSocketOptions.TCP_KEEPIDLE;
        } catch (NoClassDefFoundError noModule) {
            return null;
        }
    }

    /** Returns a set of options with this one, if there is one. */
    static Set<SocketOption<?>> with(Set<SocketOption<?>> others) {
        Set<SocketOption<?>> all = new HashSet<>(others);
        if (OPTION != null) {
            all.add(OPTION);
        }
        return Set.copyOf(all);
    }

    /** Returns the value of the option in seconds, or the default if it has none. */
    static int secondsIn(Map<SocketOption<?>, Object> values) {
        return OPTION != null && values.get(OPTION) instanceof Integer seconds ? seconds : DEFAULT_SECONDS;
    }
}
