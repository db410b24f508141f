package io.rdma4j.sockets.net;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of a socket that first uses the platform's implementation, and may later use one over RDMA. It has the
 * platform's options. Options that RDMA lacks are stored and returned. Thread safe.
 */
final class DeferredOptions {
    /** The options that {@link SocketOptions} has as numbers and RDMA lacks. */
    private static final Set<Integer> NUMBERS_OF_TCP = Set.of(SocketOptions.SO_OOBINLINE, SocketOptions.SO_REUSEPORT);

    private final boolean listens;

    /** The values that the program has set, by number or {@link SocketOption}, in the order of the calls. */
    private final Map<Object, Object> requested = new LinkedHashMap<>();

    DeferredOptions(boolean listens) {
        this.listens = listens;
    }

    Set<SocketOption<?>> supported() {
        return PlatformSockets.supportedOptions(PlatformSockets.direct(listens));
    }

    private static boolean lacks(SocketImpl socket, Object option) {
        return socket instanceof RdmaSocketImpl rdma
                && (option instanceof Integer
                        ? NUMBERS_OF_TCP.contains(option)
                        : !rdma.supportedOptions().contains(option));
    }

    private synchronized void store(Object option, Object value) {
        requested.remove(option); // moves it to the end
        requested.put(option, value);
    }

    private synchronized @Nullable Object stored(Object option) {
        return requested.get(option);
    }

    /** Sets an option of the implementation in use. */
    void set(SocketImpl current, SocketOption<?> option, @Nullable Object value) throws IOException {
        if (!supported().contains(option)) {
            throw new UnsupportedOperationException("'" + Objects.requireNonNull(option) + "' not supported");
        }
        if (value == null || !option.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
        if (!lacks(current, option)) {
            PlatformSockets.setOption(current, option, value);
        }
        store(option, value);
    }

    /**
     * Returns an option of the implementation in use. If RDMA lacks it, returns the value that was set, or the
     * platform's default.
     */
    @Nullable
    Object get(SocketImpl current, SocketOption<?> option) throws IOException {
        if (!supported().contains(option)) {
            throw new UnsupportedOperationException("'" + Objects.requireNonNull(option) + "' not supported");
        }
        if (!lacks(current, option)) {
            return PlatformSockets.option(current, option);
        }
        Object value = stored(option);
        if (value != null) {
            return value;
        }
        SocketImpl unused = PlatformSockets.direct(listens);
        PlatformSockets.create(unused);
        try {
            return PlatformSockets.option(unused, option);
        } finally {
            PlatformSockets.close(unused);
        }
    }

    /** Sets an option of the implementation in use by its number. */
    void set(SocketImpl current, int number, Object value) throws SocketException {
        if (!lacks(current, number)) {
            current.setOption(number, value);
        }
        store(number, value);
    }

    /** Returns an option of the implementation in use by its number. */
    Object get(SocketImpl current, int number) throws SocketException {
        if (!lacks(current, number)) {
            return current.getOption(number);
        }
        Object value = stored(number);
        return value == null ? false : value;
    }

    /** Applies the options that were set to an implementation over RDMA, unless RDMA lacks them. */
    synchronized void applyTo(RdmaSocketImpl created) throws IOException {
        for (Map.Entry<Object, Object> each : requested.entrySet()) {
            if (lacks(created, each.getKey())) {
                continue;
            }
            if (each.getKey() instanceof Integer number) {
                created.setOption(number, each.getValue());
            } else {
                PlatformSockets.setOption(created, (SocketOption<?>) each.getKey(), each.getValue());
            }
        }
    }

    /** Applies only the timeout, if it was set, to the implementation of an accepted connection. */
    void applyTimeoutTo(SocketImpl accepted) throws SocketException {
        Object timeout = stored(SocketOptions.SO_TIMEOUT);
        if (timeout != null) {
            accepted.setOption(SocketOptions.SO_TIMEOUT, timeout);
        }
    }
}
