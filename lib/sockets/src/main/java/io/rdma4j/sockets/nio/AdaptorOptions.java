package io.rdma4j.sockets.nio;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.NetworkChannel;

/**
 * The options of a socket adaptor: the options of its channel, with the exceptions that sockets throw, and the timeout
 * of its calls. Thread safe.
 */
final class AdaptorOptions {
    private final NetworkChannel channel;
    private volatile int timeoutMillis;

    AdaptorOptions(NetworkChannel channel) {
        this.channel = channel;
    }

    void requireOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    <T> void set(SocketOption<T> option, T value) throws SocketException {
        requireOpen();
        try {
            channel.setOption(option, value);
        } catch (IOException refused) {
            throw socketException(refused);
        }
    }

    /** Sets the size of a buffer. */
    void setSize(SocketOption<Integer> option, int bytes) throws SocketException {
        if (bytes <= 0) {
            throw new IllegalArgumentException("Invalid size " + bytes);
        }
        set(option, bytes);
    }

    <T> T get(SocketOption<T> option) throws SocketException {
        requireOpen();
        try {
            return channel.getOption(option);
        } catch (IOException refused) {
            throw socketException(refused);
        }
    }

    /** Converts an exception to the type that sockets throw. */
    static SocketException socketException(IOException cause) {
        return cause instanceof SocketException already
                ? already
                : new SocketException(String.valueOf(cause.getMessage()), cause);
    }

    /** Sets the timeout in milliseconds; 0 for none. */
    void setTimeout(int millis) throws SocketException {
        requireOpen();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMillis = millis;
    }

    /** Returns the timeout in milliseconds; 0 for none. */
    int timeout() throws SocketException {
        requireOpen();
        return timeoutMillis;
    }

    /** Returns the timeout in milliseconds, even if the channel is closed. */
    int timeoutMillis() {
        return timeoutMillis;
    }
}
