package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.StreamOptions;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.StandardSocketOptions;
import java.util.Map;
import java.util.Set;

/** Socket options by the numbers of {@link SocketOptions}, with the value types of that interface. */
final class NumberedOptions {
    private static final Map<Integer, SocketOption<?>> BY_NUMBER = Map.of(
            SocketOptions.TCP_NODELAY, StandardSocketOptions.TCP_NODELAY,
            SocketOptions.IP_TOS, StandardSocketOptions.IP_TOS,
            SocketOptions.SO_REUSEADDR, StandardSocketOptions.SO_REUSEADDR,
            SocketOptions.SO_KEEPALIVE, StandardSocketOptions.SO_KEEPALIVE,
            SocketOptions.SO_LINGER, StandardSocketOptions.SO_LINGER,
            SocketOptions.SO_SNDBUF, StandardSocketOptions.SO_SNDBUF,
            SocketOptions.SO_RCVBUF, StandardSocketOptions.SO_RCVBUF);

    private NumberedOptions() {}

    private static SocketOption<?> option(Set<SocketOption<?>> supported, int number) throws SocketException {
        SocketOption<?> option = BY_NUMBER.get(number);
        if (option == null || !supported.contains(option)) {
            throw new SocketException("Option " + (option == null ? number : option) + " is not supported");
        }
        return option;
    }

    /** Sets an option; {@code false} for {@code SO_LINGER} disables lingering. */
    static void set(StreamOptions options, Set<SocketOption<?>> supported, int number, Object value)
            throws IOException {
        if (number == SocketOptions.SO_LINGER && value instanceof Boolean) {
            options.set(StandardSocketOptions.SO_LINGER, -1);
        } else {
            set(options, option(supported, number), value);
        }
    }

    private static <T> void set(StreamOptions options, SocketOption<T> option, Object value) throws IOException {
        if (!option.type().isInstance(value)) {
            throw new SocketException("Bad value for " + option + ": " + value);
        }
        options.set(option, option.type().cast(value));
    }

    /** Returns the value of an option; {@code false} for {@code SO_LINGER} if lingering is disabled. */
    static Object get(StreamOptions options, Set<SocketOption<?>> supported, int number) throws SocketException {
        Object value = options.get(option(supported, number));
        return number == SocketOptions.SO_LINGER && value.equals(-1) ? false : value;
    }
}
