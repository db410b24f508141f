package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * The system calls that links need. Each returns the call's result, or the negated errno if the result is -1, so that a
 * failure creates no exception.
 *
 * <p>Constants are from Linux's generic ABI, which x86-64 and AArch64 share for everything used here. The first argument receives
 * errno: memory from {@link #newErrno}, used by one thread at a time. Calls that move data are critical downcalls: they skip the
 * thread state transition, and they do not block.
 */
final class Posix {
    static final int AF_UNIX = 1;
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int AF_NETLINK = 16;
    static final int NETLINK_ROUTE = 0;
    static final int SOCK_STREAM = 1;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final short POLLIN = 1;
    static final short POLLOUT = 4;

    static final int SOL_SOCKET = 1;
    static final int SO_REUSEADDR = 2;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_REUSEPORT = 15;
    static final int SO_PEERCRED = 17;
    static final int SCM_RIGHTS = 1;
    static final int SO_SNDBUFFORCE = 32;
    static final int SO_RCVBUFFORCE = 33;
    static final int SO_ATTACH_REUSEPORT_CBPF = 51;
    static final int SO_BINDTOIFINDEX = 62;
    static final int IPPROTO_IP = 0;
    static final int IP_TOS = 1;
    static final int IP_TTL = 2;
    static final int IP_MTU_DISCOVER = 10;
    static final int IP_RECVTOS = 13;
    static final int IP_MULTICAST_IF = 32;
    static final int IP_MULTICAST_TTL = 33;
    static final int IP_ADD_MEMBERSHIP = 35;
    static final int IP_DROP_MEMBERSHIP = 36;
    static final int IP_MULTICAST_ALL = 49;
    static final int IPPROTO_IPV6 = 41;
    static final int IPV6_UNICAST_HOPS = 16;
    static final int IPV6_MULTICAST_IF = 17;
    static final int IPV6_MULTICAST_HOPS = 18;
    static final int IPV6_JOIN_GROUP = 20;
    static final int IPV6_LEAVE_GROUP = 21;
    static final int IPV6_MTU_DISCOVER = 23;
    static final int IPV6_V6ONLY = 26;
    static final int IPV6_FLOWLABEL_MGR = 32;
    static final int IPV6_FLOWINFO_SEND = 33;
    static final int IPV6_DONTFRAG = 62;
    static final int IPV6_RECVTCLASS = 66;
    static final int IPV6_TCLASS = 67;
    /** Value of both {@code …MTU_DISCOVER} options: never fragment. */
    static final int PMTUDISC_DO = 2;

    static final int SOL_UDP = 17;
    static final int UDP_NO_CHECK6_TX = 101;
    static final int UDP_NO_CHECK6_RX = 102;
    static final int UDP_SEGMENT = 103;
    static final int UDP_GRO = 104;

    private static final int EFD_NONBLOCK = SOCK_NONBLOCK;
    private static final int EFD_CLOEXEC = SOCK_CLOEXEC;

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    static final long ERRNO_OFFSET = CAPTURE.byteOffset(PathElement.groupElement("errno"));
    static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final Linker.Option CRITICAL = Linker.Option.critical(false);

    /**
     * The common signature of all calls: as many words as the longest of them has parameters. A signature for each function would
     * add 2 to 3 ms to every start. A function reads only as many registers as it has parameters, and only the parameter's width
     * of each; the upper half of a 32-bit result is ignored. This holds for all calling conventions of 64-bit Linux. Pointers are
     * passed as integers, which is also cheaper for each call.
     */
    private static final FunctionDescriptor WORDS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle SOCKET = handle("socket", ERRNO);
    private static final MethodHandle BIND = handle("bind", ERRNO);
    private static final MethodHandle CONNECT = handle("connect", ERRNO);
    private static final MethodHandle LISTEN = handle("listen", ERRNO);
    private static final MethodHandle ACCEPT4 = handle("accept4", ERRNO);
    private static final MethodHandle SETSOCKOPT = handle("setsockopt", ERRNO);
    private static final MethodHandle GETSOCKOPT = handle("getsockopt", ERRNO);
    private static final MethodHandle GETEUID = handle("geteuid", ERRNO);
    private static final MethodHandle GETSOCKNAME = handle("getsockname", ERRNO);
    private static final MethodHandle PPOLL = handle("ppoll", ERRNO);
    private static final MethodHandle EVENTFD = handle("eventfd", ERRNO);
    private static final MethodHandle READ = handle("read", ERRNO);
    private static final MethodHandle WRITE = handle("write", ERRNO);
    private static final MethodHandle CLOSE = handle("close", ERRNO);

    /** Receives errno values that are ignored. */
    private static final MemorySegment IGNORED = newErrno();

    private static final MethodHandle SENDTO = handle("sendto", ERRNO, CRITICAL);
    private static final MethodHandle SENDMSG = handle("sendmsg", ERRNO, CRITICAL);
    private static final MethodHandle RECVMMSG = handle("recvmmsg", ERRNO, CRITICAL);
    private static final MethodHandle SEND = handle("send", ERRNO, CRITICAL);
    private static final MethodHandle RECV = handle("recv", ERRNO, CRITICAL);

    private Posix() {}

    /** Returns whether the C library has a function. */
    static boolean has(String name) {
        return SystemCalls.LOOKUP.find(name).isPresent();
    }

    @SuppressWarnings("restricted")
    static MethodHandle handle(String name, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(SystemCalls.LOOKUP.findOrThrow(name), WORDS, options);
    }

    /** Allocates memory for errno, for use by one thread at a time. */
    static MemorySegment newErrno() {
        return Arena.ofAuto().allocate(CAPTURE);
    }

    private static int result(long returned, MemorySegment errno) {
        int result = (int) returned;
        return result >= 0 ? result : -errno.get(JAVA_INT, ERRNO_OFFSET);
    }

    /**
     * Returns the error for a throwable of a downcall, which declares none.
     *
     * @throws Error if it is an error of the virtual machine, such as an exhausted heap: the caller handles it as such
     */
    static AssertionError impossible(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("a system call does not throw", thrown);
    }

    /** Calls a function that has at most five parameters. The caller keeps memory reachable if its address is among the words. */
    static int call(
            MethodHandle function, MemorySegment errno, long first, long second, long third, long fourth, long fifth) {
        try {
            return result((long) function.invokeExact(errno, first, second, third, fourth, fifth, 0L), errno);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** Creates a non-blocking socket. */
    static int socket(MemorySegment errno, int family, int type, int protocol) {
        return call(SOCKET, errno, family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol, 0, 0);
    }

    static int bind(MemorySegment errno, int fd, MemorySegment address, int length) {
        try {
            return call(BIND, errno, fd, address.address(), length, 0, 0);
        } finally {
            Reference.reachabilityFence(address);
        }
    }

    static int connect(MemorySegment errno, int fd, MemorySegment address, int length) {
        try {
            return call(CONNECT, errno, fd, address.address(), length, 0, 0);
        } finally {
            Reference.reachabilityFence(address);
        }
    }

    static int listen(MemorySegment errno, int fd, int backlog) {
        return call(LISTEN, errno, fd, backlog, 0, 0, 0);
    }

    /** Accepts a connection as a non-blocking descriptor. */
    static int accept(MemorySegment errno, int fd) {
        int returned;
        do {
            returned = call(ACCEPT4, errno, fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        } while (returned == -LinuxErrno.EINTR);
        return returned;
    }

    /** Sets an option to the contents of {@code value}. */
    static int setsockopt(MemorySegment errno, int fd, int level, int option, MemorySegment value) {
        try {
            return call(SETSOCKOPT, errno, fd, level, option, value.address(), value.byteSize());
        } finally {
            Reference.reachabilityFence(value);
        }
    }

    /**
     * Reads an option.
     *
     * @param length holds the size of {@code value}, and afterwards the number of bytes written to it
     */
    static int getsockopt(
            MemorySegment errno, int fd, int level, int option, MemorySegment value, MemorySegment length) {
        try {
            return call(GETSOCKOPT, errno, fd, level, option, value.address(), length.address());
        } finally {
            Reference.reachabilityFence(value);
            Reference.reachabilityFence(length);
        }
    }

    /** Returns the effective user ID of this process. */
    static int geteuid() {
        return call(GETEUID, IGNORED, 0, 0, 0, 0, 0);
    }

    static int getsockname(MemorySegment errno, int fd, MemorySegment address, MemorySegment length) {
        try {
            return call(GETSOCKNAME, errno, fd, address.address(), length.address(), 0, 0);
        } finally {
            Reference.reachabilityFence(address);
            Reference.reachabilityFence(length);
        }
    }

    /** Sends one datagram without blocking. The caller keeps the memory at {@code data} reachable. */
    static int sendto(MemorySegment errno, int fd, long data, long bytes, MemorySegment address, int addressLength) {
        try {
            int returned;
            do {
                returned = result(
                        (long) SENDTO.invokeExact(
                                errno,
                                (long) fd,
                                data,
                                bytes,
                                (long) (MSG_DONTWAIT | MSG_NOSIGNAL),
                                address.address(),
                                (long) addressLength),
                        errno);
            } while (returned == -LinuxErrno.EINTR);
            return returned;
        } catch (Throwable e) {
            throw impossible(e);
        } finally {
            Reference.reachabilityFence(address);
        }
    }

    /**
     * Sends the message described by a {@code struct msghdr} without blocking. The caller keeps the memory reachable that the
     * message refers to.
     */
    static int sendmsg(MemorySegment errno, int fd, MemorySegment header) {
        try {
            int returned;
            do {
                returned = result(
                        (long) SENDMSG.invokeExact(
                                errno, (long) fd, header.address(), (long) (MSG_DONTWAIT | MSG_NOSIGNAL), 0L, 0L, 0L),
                        errno);
            } while (returned == -LinuxErrno.EINTR);
            return returned;
        } catch (Throwable e) {
            throw impossible(e);
        } finally {
            Reference.reachabilityFence(header);
        }
    }

    /**
     * Receives up to {@code count} pending datagrams. The caller keeps the memory reachable that the messages refer to.
     */
    static int recvmmsg(MemorySegment errno, int fd, MemorySegment messages, int count) {
        try {
            int returned;
            do {
                returned = result(
                        (long) RECVMMSG.invokeExact(
                                errno, (long) fd, messages.address(), (long) count, (long) MSG_DONTWAIT, 0L, 0L),
                        errno);
            } while (returned == -LinuxErrno.EINTR);
            return returned;
        } catch (Throwable e) {
            throw impossible(e);
        } finally {
            Reference.reachabilityFence(messages);
        }
    }

    /** Writes to a stream without blocking. The caller keeps the memory at {@code data} reachable. */
    static int send(MemorySegment errno, int fd, long data, long bytes) {
        try {
            int returned;
            do {
                returned = result(
                        (long) SEND.invokeExact(
                                errno, (long) fd, data, bytes, (long) (MSG_DONTWAIT | MSG_NOSIGNAL), 0L, 0L),
                        errno);
            } while (returned == -LinuxErrno.EINTR);
            return returned;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** Reads from a stream without blocking. The caller keeps the memory at {@code data} reachable. */
    static int recv(MemorySegment errno, int fd, long data, long bytes) {
        try {
            int returned;
            do {
                returned = result(
                        (long) RECV.invokeExact(errno, (long) fd, data, bytes, (long) MSG_DONTWAIT, 0L, 0L), errno);
            } while (returned == -LinuxErrno.EINTR);
            return returned;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /** Waits for descriptors. An interrupting signal causes a spurious return. */
    static int ppoll(MemorySegment errno, MemorySegment descriptors, long count, MemorySegment timeout) {
        try {
            return call(PPOLL, errno, descriptors.address(), count, timeout.address(), 0, 0);
        } finally {
            Reference.reachabilityFence(descriptors);
            Reference.reachabilityFence(timeout);
        }
    }

    static int eventfd(MemorySegment errno) {
        return call(EVENTFD, errno, 0, EFD_NONBLOCK | EFD_CLOEXEC, 0, 0, 0);
    }

    /** Resets an event descriptor, whether or not it is signalled. */
    static void drainEvent(int fd, MemorySegment eightBytes) {
        try {
            var _ = call(READ, IGNORED, fd, eightBytes.address(), 8, 0, 0);
        } finally {
            Reference.reachabilityFence(eightBytes);
        }
    }

    /** Signals an event descriptor. This fails only if it is already signalled. Any thread. */
    static void raiseEvent(int fd, MemorySegment one) {
        try {
            var _ = call(WRITE, IGNORED, fd, one.address(), 8, 0, 0);
        } finally {
            Reference.reachabilityFence(one);
        }
    }

    static void close(int fd) {
        var _ = call(CLOSE, IGNORED, fd, 0, 0, 0, 0);
    }
}
