package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdma4j.link.host.InterfaceMonitor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Notifications from the kernel: a netlink socket that receives changes of links and addresses (rtnetlink(7)). The messages are
 * discarded, since only their arrival matters. An overflow of the socket is treated as an arrival.
 */
public final class NetlinkMonitor implements InterfaceMonitor {
    /** Size of {@code struct sockaddr_nl}, and the offset of its groups. */
    private static final int NAME_BYTES = 12;

    private static final int NAME_GROUPS = 8;

    /** {@code RTMGRP_LINK}, {@code RTMGRP_IPV4_IFADDR} and {@code RTMGRP_IPV6_IFADDR}. */
    private static final int LINKS_AND_ADDRESSES = 0x1 | 0x10 | 0x100;

    /** Size of the receive buffer. The kernel discards the rest of a longer message. */
    private static final int MESSAGE_BYTES = 64;

    private final int socket;
    private final int event;

    /** Used by the waiting thread only. */
    private final MemorySegment errno = Posix.newErrno();

    private final PollDescriptors descriptors = new PollDescriptors(2);
    private final MemorySegment message = Arena.ofAuto().allocate(MESSAGE_BYTES, 8);
    private final MemorySegment one = Arena.ofAuto().allocateFrom(JAVA_LONG, 1L);

    /** Guarded by this object, as is {@link #closed}. The last user of the descriptors releases them. */
    private boolean waiting;

    private boolean closed;

    /**
     * Starts listening.
     *
     * @throws IOException if the system cannot create the descriptors or bind the socket
     */
    public NetlinkMonitor() throws IOException {
        socket = Posix.socket(errno, Posix.AF_NETLINK, Posix.SOCK_DGRAM, Posix.NETLINK_ROUTE);
        if (socket < 0) {
            throw new IOException("open a netlink socket: " + LinuxErrno.describe(-socket));
        }
        MemorySegment name = Arena.ofAuto().allocate(NAME_BYTES, 4);
        name.set(JAVA_SHORT, 0, (short) Posix.AF_NETLINK);
        name.set(JAVA_INT, NAME_GROUPS, LINKS_AND_ADDRESSES);
        int bound = Posix.bind(errno, socket, name, NAME_BYTES);
        event = bound < 0 ? bound : Posix.eventfd(errno);
        if (event < 0) {
            Posix.close(socket);
            throw new IOException("bind a netlink socket: " + LinuxErrno.describe(-event));
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
        boolean changed = descriptors.await(2, timeoutNanos) && descriptors.isReady(1);
        synchronized (this) {
            waiting = false;
            if (closed) {
                release();
                return false;
            }
            if (changed) {
                drain();
            }
            return changed;
        }
    }

    /** Discards all pending messages, and the error that reports an overflow. */
    private void drain() {
        int result;
        do {
            result = Posix.recv(errno, socket, message.address(), MESSAGE_BYTES);
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
