package io.rdma4j.hardware.system;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.rdma4j.hardware.library.CallState;
import io.rdma4j.verbs.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The descriptors of all devices in one epoll(7) instance. It is edge-triggered: each arrival is reported once, to one of the
 * threads that wait. Never closed. Thread safe.
 */
final class EventPoll {
    /** Memory of one thread that waits. */
    static final class Buffer {
        private final MemorySegment events = Arena.ofAuto().allocate((long) MAX_EVENTS * EVENT_BYTES);
        private final CallState state = new CallState(Arena.ofAuto());
    }

    private static final int MAX_EVENTS = 16;

    private static final int ADD = 1;
    private static final int REMOVE = 2;
    private static final int READABLE = 1;
    private static final int EDGE_TRIGGERED = 1 << 31;

    /** The structure is packed on x86-64 alone. */
    private static final int DATA_AT = System.getProperty("os.arch").equals("amd64") ? 4 : 8;

    private static final int EVENT_BYTES = DATA_AT + 8;

    private final Map<Integer, DescriptorHandler> handlers = new ConcurrentHashMap<>();
    private final int epoll = Linux.epoll();
    private final int wakeup = Linux.eventDescriptor();
    private final MemorySegment one = Arena.ofAuto().allocate(8);

    EventPoll() {
        one.set(java.lang.foreign.ValueLayout.JAVA_LONG, 0, 1);
        add(wakeup, () -> {}); // edges need no read
    }

    /** Adds a descriptor that does not block. */
    void add(int descriptor, DescriptorHandler handler) {
        handlers.put(descriptor, handler);
        var _ = Linux.check("epoll_ctl", control(ADD, descriptor));
    }

    /** Removes a descriptor, before it is closed. */
    void remove(int descriptor) {
        handlers.remove(descriptor);
        var _ = control(REMOVE, descriptor);
    }

    private int control(int operation, int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(EVENT_BYTES, 8);
            event.set(JAVA_INT_UNALIGNED, 0, READABLE | EDGE_TRIGGERED);
            event.set(JAVA_INT_UNALIGNED, DATA_AT, descriptor);
            return Linux.epollControl(epoll, operation, descriptor, event);
        }
    }

    /**
     * Waits until descriptors are readable, and has them read. Also returns after {@link #wake} and signals of the system.
     *
     * @param timeoutMillis 0 does not wait, -1 has no end
     * @return true if a descriptor was readable
     */
    boolean await(Buffer buffer, int timeoutMillis) {
        int count = Linux.epollWait(epoll, buffer.state, buffer.events, MAX_EVENTS, timeoutMillis);
        if (count != -Errno.EINTR.number()) {
            var _ = Linux.check("epoll_wait", count);
        }
        for (int i = 0; i < count; i++) {
            int descriptor = buffer.events.get(JAVA_INT_UNALIGNED, (long) i * EVENT_BYTES + DATA_AT);
            DescriptorHandler handler = handlers.get(descriptor);
            if (handler != null) {
                handler.onReadable();
            }
        }
        return count > 0;
    }

    /** Wakes one thread that waits, or the next one. */
    void wake() {
        try (Arena arena = Arena.ofConfined()) {
            var _ = Linux.write(wakeup, new CallState(arena), one, 8);
        }
    }
}
