package io.rdma4j.link.linux;

import io.rdma4j.link.internal.ByteStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A connected Unix-domain stream socket. The caller passes the same two direct buffers to every call. */
final class LinuxStream implements ByteStream {
    private final Socket socket;
    private final BufferAddress input = new BufferAddress();
    private final BufferAddress output = new BufferAddress();

    LinuxStream(Socket socket) {
        this.socket = socket;
    }

    @Override
    public int read(ByteBuffer target) {
        if (socket.closed) {
            return ENDED;
        }
        if (!target.hasRemaining()) {
            return 0;
        }
        int result = Posix.recv(socket.errno, socket.fd, input.address(target), target.remaining());
        if (result > 0) {
            target.position(target.position() + result);
            return result;
        }
        return result == -LinuxErrno.EAGAIN ? 0 : ENDED;
    }

    @Override
    public int write(ByteBuffer source) {
        if (socket.closed) {
            return ENDED;
        }
        int result = Posix.send(socket.errno, socket.fd, output.address(source), source.remaining());
        if (result >= 0) {
            source.position(source.position() + result);
            return result;
        }
        // Lack of memory does not end the stream: ending it would disconnect the peers of a whole process.
        return result == -LinuxErrno.EAGAIN || result == -LinuxErrno.ENOBUFS || result == -LinuxErrno.ENOMEM
                ? 0
                : ENDED;
    }

    @Override
    public void wantsWrite(boolean wanted) {
        socket.waitFor(wanted ? (short) (Posix.POLLIN | Posix.POLLOUT) : Posix.POLLIN);
    }

    @Override
    public void close() {
        socket.close();
    }

    /** Caches the address of a direct buffer and keeps the buffer alive. */
    private static final class BufferAddress {
        private @Nullable ByteBuffer buffer;
        private long base;

        /** Returns the address of the position of {@code direct}. */
        @SuppressWarnings("ReferenceEquality")
        long address(ByteBuffer direct) {
            if (buffer != direct) {
                buffer = direct;
                base = MemorySegment.ofBuffer(direct.duplicate().clear()).address();
            }
            return base + direct.position();
        }
    }
}
