package io.rdma4j.link.internal;

import java.nio.ByteBuffer;

/**
 * A non-blocking stream of bytes to another process. Not thread safe. Errors are results, since a peer that goes away is
 * no exception.
 */
public interface ByteStream {
    /** Result of {@link #read} and {@link #write} when the stream has ended. */
    int ENDED = -1;

    /**
     * Reads into {@code target}, from position to limit, advancing the position.
     *
     * @return bytes read, 0 if there are none now, {@link #ENDED} at the end or after an error
     */
    int read(ByteBuffer target);

    /**
     * Writes from {@code source}, from position to limit, advancing the position.
     *
     * @return bytes written, 0 if there is no room now, {@link #ENDED} if the peer has gone or after an error
     */
    int write(ByteBuffer source);

    /** Tells whoever waits for this stream whether it should also wait for room to write. */
    void wantsWrite(boolean wanted);

    /** Closes the stream; closing twice does nothing. */
    void close();
}
