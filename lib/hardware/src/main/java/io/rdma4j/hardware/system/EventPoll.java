package io.rdma4j.hardware.system;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.rdma4j.hardware.library.CallState;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.spi.SharedThread;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * An epoll(7) instance with the descriptors of all devices. It is edge-triggered: it reports each arrival once, to one
 * of the waiting threads. Never closed. Thread safe.
 */
final class EventPoll {
    /** The memory of one waiting thread. */
    static final class Buffer {
        private final MemorySegment events = Arena.ofAuto().allocate((long) MAX_EVENTS * EVENT_BYTES);
        private final CallState state = new CallState(Arena.ofAuto());
    }

    private static final int MAX_EVENTS = 16;

    /** The delay before a descriptor whose handler failed is read again. */
    private static final long PAUSE_NANOS = 1_000_000;

    private static final int ADD = 1;
    private static final int REMOVE = 2;
    private static final int MODIFY = 3;
    private static final int READABLE = 1;
    private static final int EDGE_TRIGGERED = 1 << 31;

    /** {@code struct epoll_event} is packed on x86-64 only. */
    private static final int DATA_AT = System.getProperty("os.arch").equals("amd64") ? 4 : 8;

    private static final int EVENT_BYTES = DATA_AT + 8;

    private final Map<Integer, DescriptorHandler> handlers = new ConcurrentHashMap<>();
    private final int epoll = Linux.epoll();
    private final int wakeup = Linux.eventDescriptor();
    private final MemorySegment one = Arena.ofAuto().allocate(8);

    /** Captures errno of a write, which is ignored. Allocated once, so that {@link #wake} allocates nothing. */
    private final CallState wakeupState = new CallState(Arena.ofAuto());

    /** The structure that makes epoll report a descriptor again; guarded by its own monitor. */
    private final MemorySegment again = Arena.ofAuto().allocate(EVENT_BYTES, 8);

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
     * Waits until descriptors are readable, and calls their handlers. Also returns after {@link #wake}, and after
     * signals of the operating system.
     *
     * @param timeoutMillis the timeout; 0 does not wait, -1 waits indefinitely
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
                read(descriptor, handler);
            }
        }
        return count > 0;
    }

    /** Calls a handler. If it fails, epoll reports the descriptor again, and the other descriptors are read anyway. */
    private void read(int descriptor, DescriptorHandler handler) {
        try {
            handler.onReadable();
        } catch (RuntimeException | Error fault) {
            SharedThread.report(EventPoll.class, "a descriptor of a device could not be read: it is read again", fault);
            LockSupport.parkNanos(this, PAUSE_NANOS);
            // Epoll reports an arrival once, but modifying the descriptor reports unread input again.
            synchronized (again) {
                again.set(JAVA_INT_UNALIGNED, 0, READABLE | EDGE_TRIGGERED);
                again.set(JAVA_INT_UNALIGNED, DATA_AT, descriptor);
                var _ = Linux.epollControl(epoll, MODIFY, descriptor, again);
            }
        }
    }

    /** Wakes one waiting thread, or the next thread that waits. */
    void wake() {
        var _ = Linux.write(wakeup, wakeupState, one, 8);
    }
}
