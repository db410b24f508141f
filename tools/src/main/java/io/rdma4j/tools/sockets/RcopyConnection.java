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

/** The messages of rcopy over a blocking socket. */
final class RcopyConnection implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final Set<MessageFlag> WHOLE = Set.of(MessageFlag.WAIT_ALL);

    private final RdmaStreamSocket socket;
    private @Nullable ByteBuffer buffer;

    RcopyConnection(RdmaStreamSocket socket) {
        this.socket = socket;
    }

    private ByteBuffer buffer() {
        ByteBuffer own = buffer;
        if (own == null) {
            own = ByteBuffer.allocateDirect(BUFFER_BYTES);
            buffer = own;
        }
        return own.clear();
    }

    /** Sends all of a buffer. */
    void send(ByteBuffer message) throws IOException {
        while (message.hasRemaining()) {
            socket.send(message);
        }
    }

    /** Receives so many bytes; null if the peer has ended before. */
    @Nullable
    ByteBuffer receive(int bytes) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(bytes);
        socket.receive(target, WHOLE);
        return target.hasRemaining() ? null : target.flip();
    }

    /** The same after a failure to send: what the peer said before it ended the connection, or null. */
    @Nullable
    ByteBuffer receiveBeforeEnd(int bytes) {
        try {
            return receive(bytes);
        } catch (IOException nothing) {
            return null;
        }
    }

    /** Sends so many bytes of a file. */
    void sendFrom(ReadableByteChannel file, long bytes) throws IOException {
        ByteBuffer piece = buffer();
        for (long left = bytes; left > 0; left -= piece.limit()) {
            piece.clear().limit((int) Math.min(left, piece.capacity()));
            while (piece.hasRemaining()) {
                if (file.read(piece) < 0) {
                    throw new IOException("the file became shorter while it was copied");
                }
            }
            send(piece.flip());
        }
    }

    /** Receives so many bytes into a file; fewer only if the peer ends before. Returns how many. */
    long receiveInto(WritableByteChannel file, long bytes) throws IOException {
        ByteBuffer piece = buffer();
        long left = bytes;
        while (left > 0) {
            piece.clear().limit((int) Math.min(left, piece.capacity()));
            int count = receivePiece(piece);
            if (count <= 0) {
                break;
            }
            piece.flip();
            while (piece.hasRemaining()) {
                file.write(piece);
            }
            left -= count;
        }
        return bytes - left;
    }

    private int receivePiece(ByteBuffer piece) throws IOException {
        try {
            return socket.receive(piece);
        } catch (SocketException lost) {
            return -1; // the server serves the next one
        }
    }

    /** Ends the connection. */
    @Override
    public void close() {
        try {
            socket.shutdownInput();
            socket.shutdownOutput();
        } catch (IOException gone) {
            // The peer was faster.
        }
        socket.close();
    }
}
