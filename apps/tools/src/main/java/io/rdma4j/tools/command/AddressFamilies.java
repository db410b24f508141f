package io.rdma4j.tools.command;

import java.io.IOException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/**
 * Runs channel operations that may meet an address family that the host or the socket lacks.
 *
 * <p>Java's channels then throw unchecked exceptions, whereas C's calls fail with an ordinary error.
 */
public final class AddressFamilies {
    private AddressFamilies() {}

    /** A channel operation with a result. */
    public interface Call<T extends @Nullable Object> {
        /** Runs the operation. */
        T run() throws IOException;
    }

    /** A channel operation without a result. */
    public interface Action {
        /** Runs the operation. */
        void run() throws IOException;
    }

    /**
     * Runs an operation and returns its result.
     *
     * @throws IOException if the operation fails; for an unavailable address family, with C's error text and the likely
     *     cause
     */
    public static <T extends @Nullable Object> T call(Call<T> call) throws IOException {
        try {
            return call.run();
        } catch (UnsupportedOperationException | UnsupportedAddressTypeException e) {
            throw new IOException(
                    "Address family not supported by protocol (the host has no IPv6, or an IPv4 and an IPv6 address"
                            + " were given)",
                    e);
        }
    }

    /** Runs an operation that has no result. */
    public static void act(Action action) throws IOException {
        AddressFamilies.<@Nullable Void>call(() -> {
            action.run();
            return null;
        });
    }
}
