package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * The only message on the socket of a ring, apart from single bytes that wake the reader: the descriptor of the memory, and the
 * address that the frames come from.
 */
final class RingGreeting {
    /** "r4jR", and the version of the greeting and of the layout of rings. */
    private static final long MAGIC = 0x7234_6a52_0000_0001L;

    private static final int HIGH = 8;
    private static final int LOW = 16;
    private static final int BYTES = 24;

    /** A control message with one descriptor. There is no space for a second one, so the kernel drops it. */
    private static final int CONTROL_BYTES = MessageHeader.CONTROL_HEADER_BYTES + Integer.BYTES;

    private final MemorySegment header = Arena.ofAuto().allocate(MessageHeader.BYTES, 8);
    private final MemorySegment vector = Arena.ofAuto().allocate(MessageHeader.VECTOR_BYTES, 8);
    private final MemorySegment control = Arena.ofAuto().allocate(CONTROL_BYTES, 8);
    private final MemorySegment content = Arena.ofAuto().allocate(BYTES, 8);

    RingGreeting() {
        header.set(JAVA_LONG, MessageHeader.VECTORS, vector.address());
        header.set(JAVA_LONG, MessageHeader.VECTOR_COUNT, 1);
        header.set(JAVA_LONG, MessageHeader.CONTROL, control.address());
        vector.set(JAVA_LONG, 0, content.address());
        vector.set(JAVA_LONG, MessageHeader.VECTOR_LENGTH, BYTES);
    }

    /** Sends the greeting; returns whether that was possible. */
    boolean send(Socket socket, int fd, long sourceHigh, long sourceLow) {
        content.set(JAVA_LONG, 0, MAGIC);
        content.set(JAVA_LONG, HIGH, sourceHigh);
        content.set(JAVA_LONG, LOW, sourceLow);
        header.set(JAVA_LONG, MessageHeader.CONTROL_LENGTH, CONTROL_BYTES);
        control.set(JAVA_LONG, 0, CONTROL_BYTES);
        control.set(
                JAVA_LONG, MessageHeader.CONTROL_KIND, MessageHeader.controlKind(Posix.SOL_SOCKET, Posix.SCM_RIGHTS));
        control.set(JAVA_INT, MessageHeader.CONTROL_HEADER_BYTES, fd);
        try {
            return Posix.sendmsg(socket.errno, socket.fd, header) == BYTES;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Receives a greeting without waiting.
     *
     * @return the descriptor, which the caller closes, or -1 if nothing has arrived yet
     * @throws IOException if something else has arrived, or the other process has closed the socket
     */
    int receive(Socket socket) throws IOException {
        header.set(JAVA_LONG, MessageHeader.CONTROL_LENGTH, CONTROL_BYTES);
        int received;
        try {
            received = MemoryCalls.receiveMessage(socket.errno, socket.fd, header);
        } finally {
            Reference.reachabilityFence(this);
        }
        if (received == -LinuxErrno.EAGAIN || received == -LinuxErrno.EINTR) {
            return -1;
        }
        long controlBytes = header.get(JAVA_LONG, MessageHeader.CONTROL_LENGTH);
        boolean hasDescriptor = received > 0
                && controlBytes == CONTROL_BYTES
                && control.get(JAVA_LONG, MessageHeader.CONTROL_KIND)
                        == MessageHeader.controlKind(Posix.SOL_SOCKET, Posix.SCM_RIGHTS);
        int fd = hasDescriptor ? control.get(JAVA_INT, MessageHeader.CONTROL_HEADER_BYTES) : -1;
        if (fd >= 0 && received == BYTES && content.get(JAVA_LONG, 0) == MAGIC) {
            return fd;
        }
        if (fd >= 0) {
            Posix.close(fd);
        }
        throw new IOException(
                "a process sent something other than a ring, or this process has no descriptor for the memory");
    }

    /** Returns the address of the greeting that was received last, upper half. */
    long sourceHigh() {
        return content.get(JAVA_LONG, HIGH);
    }

    /** Returns the lower half. */
    long sourceLow() {
        return content.get(JAVA_LONG, LOW);
    }
}
