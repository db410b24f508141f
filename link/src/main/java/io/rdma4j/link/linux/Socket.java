package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdma4j.link.internal.GidAddresses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** A socket's descriptor, with what its system calls need, as an entry of its set's wait. */
final class Socket {
    /** Asked of the system for each socket; it grants what its limits allow. */
    private static final int BUFFER_BYTES = 4 << 20;

    /** {@code struct ucred}: process, user and group. */
    private static final int CREDENTIALS_BYTES = 12;

    private static final int CREDENTIALS_USER = 4;

    final int fd;

    /** Whether it leads to processes of this host, and is no UDP socket. */
    final boolean isLocal;

    /** For the thread that uses the socket; the one that waits has its own. */
    final MemorySegment errno;

    /** What the set waits for. */
    volatile short events = Posix.POLLIN;

    volatile boolean closed;

    private final LinuxLinkSet set;
    private final MemorySegment optionValue = Arena.ofAuto().allocate(JAVA_INT);

    /** Closes what belongs to this socket when the whole set closes; null for nothing. */
    private @Nullable Runnable onSetClose;

    /** Null for a socket that shares its port with none, or in a way that needs no care. */
    private @Nullable PortGroup group;

    Socket(LinuxLinkSet set, int fd, boolean isLocal) {
        this.set = set;
        this.fd = fd;
        this.isLocal = isLocal;
        this.errno = Posix.newErrno();
    }

    /** A new non-blocking socket that the set does not wait for yet. */
    static Socket open(LinuxLinkSet set, int family, int type) throws IOException {
        MemorySegment errno = Posix.newErrno();
        int fd = Posix.socket(errno, family, type, 0);
        if (fd < 0) {
            throw new IOException("socket: " + LinuxErrno.describe(-fd));
        }
        return new Socket(set, fd, family == Posix.AF_UNIX);
    }

    /** Sets an option; false if the system refuses. */
    boolean option(int level, int option, int value) {
        optionValue.set(JAVA_INT, 0, value);
        return Posix.setsockopt(errno, fd, level, option, optionValue) == 0;
    }

    /** Sets an option that the socket is of no use without. */
    void require(int level, int option, int value, String name) throws IOException {
        optionValue.set(JAVA_INT, 0, value);
        require(level, option, optionValue, name);
    }

    /** Sets an option that is a structure, and that the socket is of no use without. */
    void require(int level, int option, MemorySegment value, String name) throws IOException {
        int result = Posix.setsockopt(errno, fd, level, option, value);
        if (result < 0) {
            throw new IOException("set " + name + ": " + LinuxErrno.describe(-result));
        }
    }

    /** Whether the process at the other end of a Unix-domain socket runs as the user of this one. */
    boolean isOfSameUser() {
        MemorySegment credentials = Arena.ofAuto().allocate(CREDENTIALS_BYTES, 4);
        MemorySegment length = Arena.ofAuto().allocateFrom(JAVA_INT, CREDENTIALS_BYTES);
        return Posix.getsockopt(errno, fd, Posix.SOL_SOCKET, Posix.SO_PEERCRED, credentials, length) == 0
                && length.get(JAVA_INT, 0) == CREDENTIALS_BYTES
                && credentials.get(JAVA_INT, CREDENTIALS_USER) == Posix.geteuid();
    }

    /** Asks for large buffers: past the system's limits where this process may, else up to them. */
    void enlargeBuffers() {
        boolean _ = option(Posix.SOL_SOCKET, Posix.SO_RCVBUFFORCE, BUFFER_BYTES)
                || option(Posix.SOL_SOCKET, Posix.SO_RCVBUF, BUFFER_BYTES);
        boolean _ = option(Posix.SOL_SOCKET, Posix.SO_SNDBUFFORCE, BUFFER_BYTES)
                || option(Posix.SOL_SOCKET, Posix.SO_SNDBUF, BUFFER_BYTES);
    }

    /** Binds to an internet address, written into {@code name}; 0, or the negated errno. */
    int bind(MemorySegment name, InetAddress address, int udpPort) {
        int bytes = SocketAddresses.write(
                name, GidAddresses.high(address), GidAddresses.low(address), GidAddresses.scope(address), udpPort);
        return Posix.bind(errno, fd, name, bytes);
    }

    void onSetClose(Runnable action) {
        onSetClose = action;
    }

    void setClosing() {
        if (onSetClose != null) {
            onSetClose.run();
        }
        close();
    }

    /** Changes what the set waits for. */
    void waitFor(short newEvents) {
        if (events != newEvents) {
            events = newEvents;
            if ((newEvents & Posix.POLLOUT) != 0) {
                set.wakeup();
            }
        }
    }

    /** Says with which others this socket shares its port, before another thread can know the socket. */
    void joinGroup(PortGroup newGroup) {
        group = newGroup;
    }

    /** Closes the descriptor, after the set has let go of it; closing twice does nothing. */
    void close() {
        if (group == null) {
            release();
        } else {
            group.close(this);
        }
    }

    /** Closes the descriptor and tells no {@link PortGroup}. */
    void release() {
        if (!closed) {
            closed = true;
            set.remove(this);
            Posix.close(fd);
        }
    }
}
