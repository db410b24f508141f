package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.RdmaStreamSocket;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A connection of rcopy, which sends and receives its messages over a blocking socket. */
final class RcopyConnection implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final Set<MessageFlag> WAIT_ALL = Set.of(MessageFlag.WAIT_ALL);

    private final RdmaStreamSocket socket;
    private @Nullable ByteBuffer buffer;

    RcopyConnection(RdmaStreamSocket socket) {
        this.socket = socket;
    }

    private ByteBuffer buffer() {
        ByteBuffer current = buffer;
        if (current == null) {
            current = ByteBuffer.allocateDirect(BUFFER_BYTES);
            buffer = current;
        }
        return current.clear();
    }

    /** Sends all remaining bytes of the buffer. */
    void send(ByteBuffer message) throws IOException {
        while (message.hasRemaining()) {
            socket.send(message);
        }
    }

    /** Receives the given number of bytes. Returns null if the peer closes the connection first. */
    @Nullable
    ByteBuffer receive(int bytes) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(bytes);
        socket.receive(target, WAIT_ALL);
        return target.hasRemaining() ? null : target.flip();
    }

    /**
     * Receives the bytes that the peer sent before it closed the connection, after a send has failed. Returns null if
     * they are not available.
     */
    @Nullable
    ByteBuffer receiveBeforeEnd(int bytes) {
        try {
            return receive(bytes);
        } catch (IOException lost) {
            return null;
        }
    }

    /** Sends the given number of bytes of a file. */
    void sendFrom(ReadableByteChannel file, long bytes) throws IOException {
        ByteBuffer chunk = buffer();
        for (long remaining = bytes; remaining > 0; remaining -= chunk.limit()) {
            chunk.clear().limit((int) Math.min(remaining, chunk.capacity()));
            while (chunk.hasRemaining()) {
                if (file.read(chunk) < 0) {
                    throw new IOException("the file was truncated while it was copied");
                }
            }
            send(chunk.flip());
        }
    }

    /**
     * Receives the given number of bytes into a file. Returns the number received, which is lower if the peer
     * disconnects.
     */
    long receiveInto(WritableByteChannel file, long bytes) throws IOException {
        ByteBuffer chunk = buffer();
        long remaining = bytes;
        while (remaining > 0) {
            chunk.clear().limit((int) Math.min(remaining, chunk.capacity()));
            int count = receiveChunk(chunk);
            if (count <= 0) {
                break;
            }
            chunk.flip();
            while (chunk.hasRemaining()) {
                file.write(chunk);
            }
            remaining -= count;
        }
        return bytes - remaining;
    }

    private int receiveChunk(ByteBuffer chunk) throws IOException {
        try {
            return socket.receive(chunk);
        } catch (SocketException lost) {
            return -1; // as at end of stream: the server continues with the next client
        }
    }

    /** Ends the connection. */
    @Override
    public void close() {
        try {
            socket.shutdownInput();
            socket.shutdownOutput();
        } catch (IOException closed) {
            // The peer has closed the connection first.
        }
        socket.close();
    }
}
