package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdma4j.link.host.GidAddresses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** A socket's descriptor with the memory for its system calls. It is an entry in the wait of its link set. */
final class Socket {
    /** The set does not wait for the socket, not even for its end. */
    static final short NO_EVENTS = 0;

    /** Requested buffer size of each socket; the system may limit it. */
    private static final int BUFFER_BYTES = 4 << 20;

    /** Size of {@code struct ucred}: process, user and group. */
    private static final int CREDENTIALS_BYTES = 12;

    private static final int CREDENTIALS_USER = 4;

    final int fd;

    /** True for the socket of a local channel or listener, false for the socket of UDP or of an open ring. */
    private volatile boolean isLocal;

    /** Errno of the thread that uses the socket; the waiting thread has separate memory. */
    final MemorySegment errno;

    /** The events that the set waits for. */
    volatile short events = Posix.POLLIN;

    volatile boolean closed;

    private final LinuxLinkSet set;
    private final MemorySegment optionValue = Arena.ofAuto().allocate(JAVA_INT);

    /** Closes the owner of this socket when the whole set closes; null if there is none. */
    private @Nullable Runnable onSetClose;

    /** Reads the input of a ring's socket; called by the waiting thread. Null for other sockets. */
    private volatile @Nullable Runnable onReady;

    /** The group of sockets that share the port; null if this socket does not belong to one. */
    private @Nullable PortGroup group;

    Socket(LinuxLinkSet set, int fd, boolean isLocal) {
        this.set = set;
        this.fd = fd;
        this.isLocal = isLocal;
        this.errno = Posix.newErrno();
    }

    /** Opens a non-blocking socket, which the set does not yet wait for. */
    static Socket open(LinuxLinkSet set, int family, int type) throws IOException {
        MemorySegment errno = Posix.newErrno();
        int fd = Posix.socket(errno, family, type, 0);
        if (fd < 0) {
            throw new IOException("socket: " + LinuxErrno.describe(-fd));
        }
        return new Socket(set, fd, family == Posix.AF_UNIX);
    }

    /** Returns the socket of an accepted connection. The connection ends if there is no memory for it. */
    static Socket accepted(LinuxLinkSet set, int fd) {
        try {
            return new Socket(set, fd, true);
        } catch (OutOfMemoryError full) {
            Posix.close(fd);
            throw full;
        }
    }

    /** Sets an option. Returns false if the system refuses. */
    boolean option(int level, int option, int value) {
        optionValue.set(JAVA_INT, 0, value);
        return Posix.setsockopt(errno, fd, level, option, optionValue) == 0;
    }

    /** Sets an option that the socket cannot work without. */
    void require(int level, int option, int value, String name) throws IOException {
        optionValue.set(JAVA_INT, 0, value);
        require(level, option, optionValue, name);
    }

    /** Sets an option to a structure; the socket cannot work without it. */
    void require(int level, int option, MemorySegment value, String name) throws IOException {
        int result = Posix.setsockopt(errno, fd, level, option, value);
        if (result < 0) {
            throw new IOException("set " + name + ": " + LinuxErrno.describe(-result));
        }
    }

    /** Returns whether the process at the other end of a Unix-domain socket runs as the same user as this one. */
    boolean isOfSameUser() {
        MemorySegment credentials = Arena.ofAuto().allocate(CREDENTIALS_BYTES, 4);
        MemorySegment length = Arena.ofAuto().allocateFrom(JAVA_INT, CREDENTIALS_BYTES);
        return Posix.getsockopt(errno, fd, Posix.SOL_SOCKET, Posix.SO_PEERCRED, credentials, length) == 0
                && length.get(JAVA_INT, 0) == CREDENTIALS_BYTES
                && credentials.get(JAVA_INT, CREDENTIALS_USER) == Posix.geteuid();
    }

    /** Requests the smallest receive buffer and a large send buffer, for a socket that only sends. */
    void prepareToSendOnly() {
        boolean _ = option(Posix.SOL_SOCKET, Posix.SO_RCVBUF, 0);
        boolean _ = option(Posix.SOL_SOCKET, Posix.SO_SNDBUFFORCE, BUFFER_BYTES)
                || option(Posix.SOL_SOCKET, Posix.SO_SNDBUF, BUFFER_BYTES);
    }

    /** Requests large buffers: beyond the system's limits if this process is allowed to, otherwise up to them. */
    void enlargeBuffers() {
        boolean _ = option(Posix.SOL_SOCKET, Posix.SO_RCVBUFFORCE, BUFFER_BYTES)
                || option(Posix.SOL_SOCKET, Posix.SO_RCVBUF, BUFFER_BYTES);
        boolean _ = option(Posix.SOL_SOCKET, Posix.SO_SNDBUFFORCE, BUFFER_BYTES)
                || option(Posix.SOL_SOCKET, Posix.SO_SNDBUF, BUFFER_BYTES);
    }

    /** Binds to an internet address, which is written into {@code name}. Returns 0 or the negated errno. */
    int bind(MemorySegment name, InetAddress address, int udpPort) {
        int bytes = SocketAddresses.write(
                name, GidAddresses.high(address), GidAddresses.low(address), GidAddresses.scope(address), udpPort);
        return Posix.bind(errno, fd, name, bytes);
    }

    void onSetClose(Runnable action) {
        onSetClose = action;
    }

    /** Waits for the socket again if it is a listener that the set did not wait for. */
    void resume() {
        if (isLocal && events == NO_EVENTS && !closed) {
            events = Posix.POLLIN;
        }
    }

    /** Makes this the socket of a ring: the waiting thread reads its input. */
    void becomeRing(Runnable reader) {
        onReady = reader;
        isLocal = false;
    }

    /** Returns whether the socket belongs to a local channel or listener. */
    boolean isLocal() {
        return isLocal;
    }

    /** Called by the waiting thread, which has found the socket ready. */
    void ready() {
        Runnable reader = onReady;
        if (reader != null) {
            reader.run();
        }
    }

    void setClosing() {
        if (onSetClose != null) {
            onSetClose.run();
        }
        close();
    }

    /** Changes the events that the set waits for. */
    void waitFor(short newEvents) {
        if (events != newEvents && !closed) {
            events = newEvents;
            if ((newEvents & Posix.POLLOUT) != 0) {
                set.wakeup();
            }
        }
    }

    /** Makes the waiting thread check again. */
    void wakeSet() {
        set.wakeup();
    }

    /** Sets the group that this socket shares its port with, before any other thread can access the socket. */
    void joinGroup(PortGroup newGroup) {
        group = newGroup;
    }

    /** Closes the descriptor, after the set has removed it. Closing it again has no effect. */
    void close() {
        if (group == null) {
            release();
        } else {
            group.close(this);
        }
    }

    /** Closes the descriptor without leaving the {@link PortGroup}. */
    void release() {
        if (!closed) {
            closed = true;
            events = NO_EVENTS; // the set does not wait for it, even if there is no memory to remove it
            try {
                set.remove(this);
            } finally {
                Posix.close(fd);
            }
        }
    }
}
