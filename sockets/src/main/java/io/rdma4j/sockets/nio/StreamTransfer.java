package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.StreamEndpoint;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;

/** Reads from and writes to an endpoint as a channel does, waiting where the channel is a blocking one. */
final class StreamTransfer {
    /** What a channel does before and after its thread may wait. */
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
     * @param deadlineNanos when it stops waiting, a time of {@link System#nanoTime}
     * @throws SocketTimeoutException if that time is over
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

    /** Reads into some buffers; waits for the first byte at most. */
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

    /** Writes buffers; all of them where it may wait. */
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

    /** Writes a buffer; all of it where it may wait. */
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
            // What was written is told, and the failure by the next write; if it was closed meanwhile, by endWait.
        } finally {
            channel.endWait(haveWritten || source.position() > begin);
        }
        return source.position() - begin;
    }

    /** Reads what else is there; the end and a failure are told by the next read. */
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
                return 0; // what was written is told, and the failure by the next write
            }
            throw unlessClosed(failed);
        }
    }

    /** Why it failed; where the channel is closed meanwhile, that is why. */
    private IOException unlessClosed(IOException failed) {
        return channel.isOpen() ? failed : new AsynchronousCloseException();
    }
}
