package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.StreamEndpoint;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;

/** Reads from and writes to the endpoint of a channel; blocks if the channel is blocking. */
final class StreamTransfer {
    /** The hooks that a channel calls before and after a blocking wait. */
    interface Waiting {
        void beginWait();

        void endWait(boolean completed) throws AsynchronousCloseException;

        boolean isOpen();

        boolean isBlocking();
    }

    private final Waiting channel;
    private final StreamEndpoint endpoint;

    StreamTransfer(Waiting channel, StreamEndpoint endpoint) {
        this.channel = channel;
        this.endpoint = endpoint;
    }

    /**
     * Reads into a buffer.
     *
     * @param deadlineNanos the end of the wait, a time of the endpoint's clock
     * @throws SocketTimeoutException if the deadline passes
     */
    int read(ByteBuffer target, long deadlineNanos) throws IOException {
        requireWritable(target);
        if (!target.hasRemaining()) {
            return 0;
        }
        if (!channel.isBlocking()) {
            return readNow(target);
        }
        int count = 0;
        channel.beginWait();
        try {
            count = endpoint.read(target);
            while (count == 0 && channel.isOpen() && endpoint.await(Readiness.IN, deadlineNanos) != 0) {
                count = endpoint.read(target);
            }
        } finally {
            channel.endWait(count != 0);
        }
        if (count == 0) {
            throw new SocketTimeoutException("Read timed out");
        }
        return count;
    }

    private static void requireWritable(ByteBuffer target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    /** Reads into several buffers; waits only for the first byte. */
    long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        for (int i = offset; i < offset + length; i++) {
            requireWritable(targets[i]);
        }
        long total = 0;
        for (int i = offset; i < offset + length; i++) {
            ByteBuffer target = targets[i];
            if (target.hasRemaining()) {
                int count = total == 0 ? read(target, Long.MAX_VALUE) : readMore(target);
                total += count;
                if (target.hasRemaining()) {
                    return total;
                }
            }
        }
        return total;
    }

    /** Writes several buffers, completely if the channel is blocking. */
    long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        long total = 0;
        for (int i = offset; i < offset + length; i++) {
            int count = write(sources[i], total > 0);
            total += count;
            if (sources[i].hasRemaining()) {
                return total;
            }
        }
        return total;
    }

    /** Writes a buffer, completely if the channel is blocking. */
    int write(ByteBuffer source) throws IOException {
        return write(source, false);
    }

    private int write(ByteBuffer source, boolean haveWritten) throws IOException {
        if (!source.hasRemaining()) {
            return 0;
        }
        if (!channel.isBlocking()) {
            return writeNow(source, haveWritten);
        }
        int begin = source.position();
        channel.beginWait();
        try {
            endpoint.write(source);
            while (source.hasRemaining() && channel.isOpen() && endpoint.await(Readiness.OUT, Long.MAX_VALUE) != 0) {
                endpoint.write(source);
            }
        } catch (IOException failed) {
            if (channel.isOpen() && !haveWritten && source.position() == begin) {
                throw failed;
            }
            // Return what was written. The next write reports the failure; endWait reports a concurrent close.
        } finally {
            channel.endWait(haveWritten || source.position() > begin);
        }
        return source.position() - begin;
    }

    /** Reads more available bytes. The next read reports the end of the stream or a failure. */
    private int readMore(ByteBuffer target) {
        try {
            return Math.max(0, endpoint.read(target));
        } catch (IOException failed) {
            return 0;
        }
    }

    private int readNow(ByteBuffer target) throws IOException {
        try {
            return endpoint.read(target);
        } catch (IOException failed) {
            throw unlessClosed(failed);
        }
    }

    private int writeNow(ByteBuffer source, boolean haveWritten) throws IOException {
        try {
            return endpoint.write(source);
        } catch (IOException failed) {
            if (haveWritten) {
                return 0; // return what was written; the next write reports the failure
            }
            throw unlessClosed(failed);
        }
    }

    /** Returns the failure to throw: a concurrent close takes precedence. */
    private IOException unlessClosed(IOException failed) {
        return channel.isOpen() ? failed : new AsynchronousCloseException();
    }
}
