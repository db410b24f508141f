package io.rdma4j.tools;

import java.io.IOException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/**
 * Calls of Java's channels that may meet an address of a family that the host or the socket does not have: they then throw
 * exceptions that are no {@link IOException}, where C's calls fail with an error like any other.
 */
public final class AddressFamilies {
    private AddressFamilies() {}

    /** A call with a result. */
    public interface Call<T extends @Nullable Object> {
        /** Does it. */
        T run() throws IOException;
    }

    /** A call without a result. */
    public interface Action {
        /** Does it. */
        void run() throws IOException;
    }

    /**
     * Does a call.
     *
     * @throws IOException if it fails; with C's text, and a reason, where there is no such family
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

    /** The same for a call without a result. */
    public static void act(Action action) throws IOException {
        AddressFamilies.<@Nullable Void>call(() -> {
            action.run();
            return null;
        });
    }
}
