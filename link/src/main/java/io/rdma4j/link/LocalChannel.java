package io.rdma4j.link;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Messages to and from another process of this host, kept whole and in order, over a Unix-domain stream socket: each
 * message travels as its length in two bytes, network order, and its bytes. Never blocks. Not thread safe.
 */
public interface LocalChannel extends AutoCloseable {
    /** Most bytes of one message. */
    int MAX_MESSAGE_BYTES = 8192;

    /**
     * Sends one message, or drops it: a message never leaves in part.
     *
     * @param header first part of the message, from position to limit; its position is left alone
     * @param body second part, likewise; may be empty
     * @return false if the message was dropped because the other process does not read, or the channel is closed
     */
    boolean send(ByteBuffer header, ByteBuffer body);

    /**
     * Takes the next message that is there whole, or null; does not wait.
     *
     * @return the message from position to limit, valid until the next call
     */
    @Nullable
    ByteBuffer poll();

    /** Whether the other process has gone or the channel was closed; messages already here can still be polled. */
    boolean isClosed();

    /** Closes the channel. */
    @Override
    void close();
}
