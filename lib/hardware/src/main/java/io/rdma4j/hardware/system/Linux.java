package io.rdma4j.hardware.system;

import io.rdma4j.hardware.library.CallState;
import io.rdma4j.hardware.library.Downcalls;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/**
 * The system calls of this module. Each returns its result, or the negated errno. The constants are the values of
 * Linux's generic ABI, which x86-64 and arm64 share.
 */
public final class Linux {
    /** {@code O_RDWR | O_NONBLOCK | O_CLOEXEC}. */
    private static final int READ_WRITE_NONBLOCKING = 2 | 0x800 | 0x80000;

    private static final int CLOSE_ON_EXEC = 0x80000;
    private static final int NONBLOCKING = 0x800;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;

    private static final MemorySegment OPEN = function("open");
    private static final MemorySegment CLOSE = function("close");
    private static final MemorySegment READ = function("read");
    private static final MemorySegment WRITE = function("write");
    private static final MemorySegment FCNTL = function("fcntl");
    private static final MemorySegment EVENTFD = function("eventfd");
    private static final MemorySegment EPOLL_CREATE = function("epoll_create1");
    private static final MemorySegment EPOLL_CONTROL = function("epoll_ctl");
    private static final MemorySegment EPOLL_WAIT = function("epoll_wait");

    private Linux() {}

    /**
     * Finds a function. In the process of a C program, the calls go through a library that must know Java's
     * descriptors: see {@code SystemCalls} of {@code link}.
     */
    @SuppressWarnings("restricted")
    private static MemorySegment function(String name) {
        SymbolLookup libraryOfC = Linker.nativeLinker().defaultLookup();
        String file = System.getProperty("rdma4j.system-calls", "");
        SymbolLookup lookup = file.isEmpty()
                ? libraryOfC
                : SymbolLookup.libraryLookup(file, Arena.global()).or(libraryOfC);
        return lookup.findOrThrow(name);
    }

    private static int call(MemorySegment function, CallState state, long first, long second, long third, long fourth) {
        int result = (int) Downcalls.control(function, state, first, second, third, fourth, 0, 0);
        return result == -1 ? -state.errno() : result;
    }

    /**
     * Opens a device file for reading and writing, without blocking.
     *
     * @return the descriptor, or the negated errno
     */
    public static int open(String path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path);
            return call(OPEN, new CallState(arena), name.address(), READ_WRITE_NONBLOCKING, 0, 0);
        }
    }

    /** Closes a descriptor. */
    public static void close(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            var _ = call(CLOSE, new CallState(arena), descriptor, 0, 0, 0);
        }
    }

    /** Writes to a descriptor; returns the number of bytes or the negated errno. */
    public static int write(int descriptor, CallState state, MemorySegment bytes, long count) {
        return call(WRITE, state, descriptor, bytes.address(), count, 0);
    }

    /** Reads from a descriptor; returns the number of bytes or the negated errno. */
    public static int read(int descriptor, CallState state, MemorySegment bytes, long count) {
        return call(READ, state, descriptor, bytes.address(), count, 0);
    }

    /**
     * Makes the calls on a descriptor return {@code EAGAIN} instead of waiting.
     *
     * @throws RdmaException if the descriptor is not open
     */
    public static void setNonblocking(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            CallState state = new CallState(arena);
            int flags = check("fcntl", call(FCNTL, state, descriptor, F_GETFL, 0, 0));
            var _ = check("fcntl", call(FCNTL, state, descriptor, F_SETFL, flags | NONBLOCKING, 0));
        }
    }

    /** Creates an eventfd(2) that does not block. */
    static int eventDescriptor() {
        try (Arena arena = Arena.ofConfined()) {
            return check("eventfd", call(EVENTFD, new CallState(arena), 0, NONBLOCKING | CLOSE_ON_EXEC, 0, 0));
        }
    }

    /** Creates an epoll(7) instance. */
    static int epoll() {
        try (Arena arena = Arena.ofConfined()) {
            return check("epoll_create1", call(EPOLL_CREATE, new CallState(arena), CLOSE_ON_EXEC, 0, 0, 0));
        }
    }

    /** Changes the set of an epoll instance; returns 0 or the negated errno. */
    static int epollControl(int epoll, int operation, int descriptor, MemorySegment event) {
        try (Arena arena = Arena.ofConfined()) {
            return call(EPOLL_CONTROL, new CallState(arena), epoll, operation, descriptor, event.address());
        }
    }

    /** Waits for descriptors; returns their number or the negated errno. A timeout of -1 waits indefinitely. */
    static int epollWait(int epoll, CallState state, MemorySegment events, int maxEvents, int timeoutMillis) {
        return call(EPOLL_WAIT, state, epoll, events.address(), maxEvents, timeoutMillis);
    }

    /**
     * Returns a result, unless it is an error.
     *
     * @throws RdmaException for a negated errno
     */
    static int check(String operation, int result) {
        if (result < 0) {
            throw new RdmaException(operation, Errno.of(-result), "", "");
        }
        return result;
    }
}
