package io.rdma4j.link;

import java.io.IOException;
import java.util.function.Supplier;

/** A Unix-domain socket from which each process that connects to it reads one text. */
public interface TextListener extends AutoCloseable {
    /**
     * Waits until a process connects, and sends it a text. May return without either. One thread at a time.
     *
     * @param texts called after a process has connected; it reads nothing if this fails
     * @return false if the listener is closed
     * @throws IOException if the system has no descriptor for the connection, which stays pending
     */
    boolean answer(Supplier<byte[]> texts) throws IOException;

    /** Closes the socket. Its file remains. Closing it again has no effect. Any thread. */
    @Override
    void close();
}
