package io.rdma4j.link.internal;

import java.nio.ByteBuffer;

/**
 * A non-blocking stream of bytes to another process. Errors are reported as results, since a peer that disconnects is
 * not exceptional. Not thread safe.
 */
public interface ByteStream {
    /** Result of {@link #read} and {@link #write} when the stream has ended. */
    int ENDED = -1;

    /**
     * Reads into {@code target}, from position to limit, and advances the position.
     *
     * @return the number of bytes read, 0 if none are available now, or {@link #ENDED} at end of stream or after an
     *     error
     */
    int read(ByteBuffer target);

    /**
     * Writes from {@code source}, from position to limit, and advances the position.
     *
     * @return the number of bytes written, 0 if there is no space now, or {@link #ENDED} if the peer has disconnected
     *     or after an error
     */
    int write(ByteBuffer source);

    /** Sets whether waits for this stream also wait for space to write. */
    void wantsWrite(boolean wanted);

    /** Closes the stream. Closing it again has no effect. */
    void close();
}
