package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import java.util.concurrent.locks.LockSupport;

/** An object of an open device. Thread safe. */
abstract class HardwareObject implements AutoCloseable {
    /** The kinds of objects, in the order in which closing a device destroys them. */
    enum Kind {
        QUEUE_PAIR,
        SHARED_RECEIVE_QUEUE,
        ADDRESS_HANDLE,
        MEMORY_WINDOW,
        MEMORY_REGION,
        COMPLETION_QUEUE,
        COMPLETION_CHANNEL,
        XRC_DOMAIN,
        PROTECTION_DOMAIN
    }

    /** The interval at which closing a device checks whether another thread has destroyed the object. */
    private static final long WAIT_NANOS = 1_000_000;

    private final HardwareContext context;
    private final Kind kind;
    private final Handle handle;

    HardwareObject(HardwareContext context, Kind kind, long address) {
        this.context = context;
        this.kind = kind;
        this.handle = new Handle(address);
        context.register(this);
    }

    /** Returns the open device. */
    public HardwareContext context() {
        return context;
    }

    final Kind kind() {
        return kind;
    }

    final Handle handle() {
        return handle;
    }

    /** Returns the address of the C object. The caller has entered the handle, or holds a lock that closing takes. */
    final long pointer() {
        return handle.address();
    }

    /**
     * Calls a function that returns an errno, with this object as the first argument.
     *
     * @throws io.rdma4j.verbs.RdmaException if the errno is not 0, or the object is closed
     */
    final void check(Call call, Function function, String details, long... words) {
        long[] all = new long[words.length + 1];
        all[0] = handle.enter(function.symbol(), this);
        System.arraycopy(words, 0, all, 1, words.length);
        try {
            call.check(function, details.isEmpty() ? toString() : this + ": " + details, all);
        } finally {
            handle.exit();
        }
    }

    /** Closes the object. Closing it twice has no effect. */
    @Override
    public void close() {
        handle.close(address -> {
            try (Call call = new Call()) {
                destroy(call, address);
            }
            context.unregister(this);
        });
    }

    /** Closes the object with its device. Returns after it is destroyed, even if another thread is closing it. */
    final void closeWithContext() {
        close();
        while (equals(context.objectAt(handle.address()))) {
            LockSupport.parkNanos(this, WAIT_NANOS);
            close(); // the other thread may have failed
        }
    }

    /**
     * Destroys the C object, which is no longer in use.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EBUSY} if other objects use it
     */
    abstract void destroy(Call call, long address);

    /** Destroys the C object by a function that returns an errno. */
    final void destroy(Call call, Function function, long address) {
        call.check(function, toString(), address);
    }
}
