package io.rdma4j.link.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** The socket of a ring: the writer sends single bytes that wake the reader, and the end of either process ends it. */
final class RingSocket {
    private static final int INPUT_BYTES = 256;

    private final Socket socket;
    private final MemorySegment input = Arena.ofAuto().allocate(INPUT_BYTES);

    /** Used by the waiting thread. */
    private final MemorySegment waitingErrno = Posix.newErrno();

    private volatile boolean isEnded;

    /** Takes over a connected socket. */
    RingSocket(Socket socket) {
        this.socket = socket;
        socket.becomeRing(() -> read(waitingErrno));
    }

    /** Wakes the process at the other end. */
    void wake() {
        try {
            int sent = Posix.send(socket.errno, socket.fd, input.address(), 1);
            if (sent < 0 && sent != -LinuxErrno.EAGAIN) { // a process with so many unread bytes is awake
                isEnded = true;
            }
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Checks whether the process at the other end has closed the socket. A byte that this reads was meant to wake the waiting
     * thread, and the writer sends no other one before that thread has waited again. The thread is therefore woken in another
     * way.
     */
    void checkEnd() {
        if (!isEnded && read(socket.errno) > 0) {
            socket.wakeSet();
        }
    }

    /**
     * Excludes a concurrent close, after which the descriptor may be another file. Returns the number of bytes, not positive if
     * there are none.
     */
    private synchronized int read(MemorySegment errno) {
        if (socket.closed) {
            return 0;
        }
        try {
            int received = Posix.recv(errno, socket.fd, input.address(), INPUT_BYTES);
            if (received == 0 || received < 0 && received != -LinuxErrno.EAGAIN) {
                isEnded = true;
                socket.waitFor(Socket.NO_EVENTS); // otherwise the waiting thread would always find it ready
            }
            return received;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Returns whether the process at the other end has ended, as far as is known. Any thread. */
    boolean isEnded() {
        return isEnded;
    }

    synchronized void close() {
        isEnded = true;
        socket.close();
    }
}
