package io.rdma4j.link;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A channel of messages to and from another process of this host, over a Unix-domain stream socket. Messages arrive
 * complete and in order. Each is sent as its length in two bytes, network byte order, followed by its content. Calls
 * never block. Not thread safe.
 */
public interface LocalChannel extends AutoCloseable {
    /** The maximum size of a message, in bytes. */
    int MAX_MESSAGE_BYTES = 8192;

    /**
     * Sends one message or drops it. A message is never sent partially.
     *
     * @param header first part of the message, from position to limit; the position does not change
     * @param body second part, likewise; may be empty
     * @return false if the message was dropped because the other process does not read, or the channel is closed
     * @throws IllegalArgumentException if the message is larger than {@link #MAX_MESSAGE_BYTES}
     */
    boolean send(ByteBuffer header, ByteBuffer body);

    /**
     * Sends a message that is never dropped while the channel is open. If the other process does not read now, the message waits
     * in this process, and {@link #send} drops messages until all waiting ones are sent. They are sent by later calls, and by
     * {@link #poll} when the other process reads again.
     *
     * @param subject a waiting message is replaced by a later one with an equal subject, so that at most one message waits for
     *     each subject; the later one is sent after all waiting messages
     * @param message from position to limit; the position does not change
     * @throws IllegalArgumentException if the message is larger than {@link #MAX_MESSAGE_BYTES}
     */
    void sendControl(Object subject, ByteBuffer message);

    /** Returns whether messages of {@link #sendControl} wait. */
    boolean hasUnsentControl();

    /**
     * Returns the next complete message without waiting, or null if there is none.
     *
     * @return the message from position to limit, valid until the next call
     */
    @Nullable
    ByteBuffer poll();

    /**
     * Returns whether the other process has closed the channel or exited, or the channel was closed here. Messages
     * already received can still be polled.
     */
    boolean isClosed();

    /** Closes the channel. Closing it again has no effect. */
    @Override
    void close();
}
