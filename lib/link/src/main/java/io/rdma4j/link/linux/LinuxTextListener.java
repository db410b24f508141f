package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.link.TextListener;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * Accepts readers by a system call. {@code ServerSocketChannel.accept} of JDK 25 ends the process if the heap is full: its native
 * code does not check whether it got an array for the address.
 */
public final class LinuxTextListener implements TextListener {
    private static final int BACKLOG = 50;
    private static final int CHUNK_BYTES = 64 << 10;

    /** The maximum number of one-millisecond pauses, for each text, for a reader that does not read. */
    private static final int MAX_PAUSES = 1000;

    private static final long PAUSE_NANOS = 1_000_000;

    private final int socket;
    private final int event;

    /** Used by the answering thread only. */
    private final MemorySegment errno = Posix.newErrno();

    private final PollDescriptors descriptors = new PollDescriptors(2);
    private final MemorySegment chunk = Arena.ofAuto().allocate(CHUNK_BYTES);
    private final MemorySegment one = Arena.ofAuto().allocateFrom(JAVA_LONG, 1L);

    /** Guarded by this object, as is {@link #closed}. The last user of the descriptors releases them. */
    private boolean answering;

    private boolean closed;

    /**
     * Starts listening.
     *
     * @param path a file that does not exist
     * @throws IOException if the system cannot create the descriptors or the file
     */
    public LinuxTextListener(Path path) throws IOException {
        MemorySegment name = SocketAddresses.unix(path);
        socket = Posix.socket(errno, Posix.AF_UNIX, Posix.SOCK_STREAM, 0);
        if (socket < 0) {
            throw new IOException("socket: " + LinuxErrno.describe(-socket));
        }
        int result = Posix.bind(errno, socket, name, (int) name.byteSize());
        if (result == 0) {
            result = Posix.listen(errno, socket, BACKLOG);
        }
        event = result < 0 ? result : Posix.eventfd(errno);
        if (event < 0) {
            Posix.close(socket);
            throw new IOException("listen on " + path + ": " + LinuxErrno.describe(-event));
        }
    }

    @Override
    public boolean answer(Supplier<byte[]> texts) throws IOException {
        synchronized (this) {
            if (closed) {
                return false;
            }
            answering = true;
        }
        try {
            if (isReady(socket, Posix.POLLIN, Long.MAX_VALUE)) {
                accept(texts);
            }
        } finally {
            endAnswer();
        }
        return true;
    }

    private synchronized void endAnswer() {
        answering = false;
        if (closed) {
            release();
        }
    }

    /** Waits until a descriptor is ready or the listener is closed. Returns whether it is ready, and the listener open. */
    private boolean isReady(int fd, short events, long timeoutNanos) {
        descriptors.set(0, event, Posix.POLLIN);
        descriptors.set(1, fd, events);
        return descriptors.await(2, timeoutNanos) && !descriptors.isReady(0) && descriptors.isReady(1);
    }

    private void accept(Supplier<byte[]> texts) throws IOException {
        int reader = Posix.accept(errno, socket);
        if (LinuxErrno.isShortage(-reader)) {
            throw new IOException("accept: " + LinuxErrno.describe(-reader));
        }
        if (reader >= 0) {
            try {
                send(reader, texts.get());
            } finally {
                Posix.close(reader);
            }
        }
    }

    private void send(int reader, byte[] text) {
        int pauses = 0;
        int sent = 0;
        while (sent < text.length && pauses < MAX_PAUSES) {
            int bytes = Math.min(CHUNK_BYTES, text.length - sent);
            MemorySegment.copy(text, sent, chunk, JAVA_BYTE, 0, bytes);
            int result = Posix.send(errno, reader, chunk.address(), bytes);
            if (result >= 0) {
                sent += result;
            } else if (result != -LinuxErrno.EAGAIN) {
                return; // it has disconnected
            } else if (!isReady(reader, Posix.POLLOUT, PAUSE_NANOS)) {
                pauses += descriptors.isReady(0) ? MAX_PAUSES : 1;
            }
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (answering) {
            Posix.raiseEvent(event, one);
        } else {
            release();
        }
    }

    private void release() {
        Posix.close(socket);
        Posix.close(event);
    }
}
