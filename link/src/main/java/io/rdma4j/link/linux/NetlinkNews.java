package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdma4j.link.InterfaceNews;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * News from the kernel: a socket that is told of links and addresses (rtnetlink(7)). What it is told is thrown away; only that
 * it was told counts, and an overflow of the socket says the same.
 */
public final class NetlinkNews implements InterfaceNews {
    /** {@code struct sockaddr_nl} and the offset of its groups. */
    private static final int NAME_BYTES = 12;

    private static final int NAME_GROUPS = 8;

    /** {@code RTMGRP_LINK}, {@code RTMGRP_IPV4_IFADDR} and {@code RTMGRP_IPV6_IFADDR}. */
    private static final int LINKS_AND_ADDRESSES = 0x1 | 0x10 | 0x100;

    /** What is left of a longer message the kernel drops. */
    private static final int TOLD_BYTES = 64;

    private final int socket;
    private final int event;

    /** Memory of the thread that waits. */
    private final MemorySegment errno = Posix.newErrno();

    private final PollDescriptors descriptors = new PollDescriptors(2);
    private final MemorySegment told = Arena.ofAuto().allocate(TOLD_BYTES, 8);
    private final MemorySegment one = Arena.ofAuto().allocateFrom(JAVA_LONG, 1L);

    /** Both are guarded by this object: the descriptors are released by whoever is the last to use them. */
    private boolean waiting;

    private boolean closed;

    /**
     * Begins to listen.
     *
     * @throws IOException if the system gives no descriptor, or does not tell
     */
    public NetlinkNews() throws IOException {
        socket = Posix.socket(errno, Posix.AF_NETLINK, Posix.SOCK_DGRAM, Posix.NETLINK_ROUTE);
        if (socket < 0) {
            throw new IOException("socket of the kernel's news: " + LinuxErrno.describe(-socket));
        }
        MemorySegment name = Arena.ofAuto().allocate(NAME_BYTES, 4);
        name.set(JAVA_SHORT, 0, (short) Posix.AF_NETLINK);
        name.set(JAVA_INT, NAME_GROUPS, LINKS_AND_ADDRESSES);
        int bound = Posix.bind(errno, socket, name, NAME_BYTES);
        event = bound < 0 ? bound : Posix.eventfd(errno);
        if (event < 0) {
            Posix.close(socket);
            throw new IOException("listen to the kernel's news: " + LinuxErrno.describe(-event));
        }
    }

    @Override
    public boolean await(long timeoutNanos) {
        synchronized (this) {
            if (closed) {
                return false;
            }
            waiting = true;
        }
        descriptors.set(0, event, Posix.POLLIN);
        descriptors.set(1, socket, Posix.POLLIN);
        boolean news = descriptors.await(2, timeoutNanos) && descriptors.isReady(1);
        synchronized (this) {
            waiting = false;
            if (closed) {
                release();
                return false;
            }
            if (news) {
                drain();
            }
            return news;
        }
    }

    /** All that is there, and the error that stands for what found no room. */
    private void drain() {
        int result;
        do {
            result = Posix.recv(errno, socket, told.address(), TOLD_BYTES);
        } while (result > 0 || result == -LinuxErrno.ENOBUFS);
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (waiting) {
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
