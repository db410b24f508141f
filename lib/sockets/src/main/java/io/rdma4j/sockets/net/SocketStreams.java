package io.rdma4j.sockets.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Objects;

/** The streams of a socket. Closing a stream closes the socket. */
public final class SocketStreams {
    /** The calls of a socket that its streams make. */
    public interface Calls {
        /** Reads at least one byte, or returns -1 at the end of the stream; {@code length} is not 0. */
        int read(byte[] bytes, int offset, int length) throws IOException;

        /** Writes all bytes. */
        void write(byte[] bytes, int offset, int length) throws IOException;

        /** Returns the number of bytes that can be read without blocking. */
        int available() throws IOException;

        /** Closes the socket. */
        void close() throws IOException;
    }

    private SocketStreams() {}

    /** Returns an input stream of a socket. */
    public static InputStream input(Calls socket) {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                Objects.checkFromIndexSize(offset, length, bytes.length);
                return length == 0 ? 0 : socket.read(bytes, offset, length);
            }

            @Override
            public int available() throws IOException {
                return socket.available();
            }

            @Override
            public void close() throws IOException {
                socket.close();
            }
        };
    }

    /** Returns an output stream of a socket. */
    public static OutputStream output(Calls socket) {
        return new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                Objects.checkFromIndexSize(offset, length, bytes.length);
                socket.write(bytes, offset, length);
            }

            @Override
            public void close() throws IOException {
                socket.close();
            }
        };
    }
}
