package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import java.util.concurrent.locks.LockSupport;

/** An object that an open device has created. Thread safe. */
abstract class HardwareObject implements AutoCloseable {
    /** The kinds, in the order in which a device that is closed destroys its objects. */
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

    /** The interval at which a device that is closed checks whether another thread has destroyed the object. */
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

    /** Returns the address of the object of C. The caller has entered, or holds a lock that closing takes. */
    final long pointer() {
        return handle.address();
    }

    /**
     * Calls a function that returns an errno, with this object as its first argument.
     *
     * @throws io.rdma4j.verbs.RdmaException if it is not 0, or the object is closed
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

    /** Closes the object with its device: returns once it is destroyed, also if another thread is closing it. */
    final void closeWithContext() {
        close();
        while (equals(context.objectAt(handle.address()))) {
            LockSupport.parkNanos(this, WAIT_NANOS);
            close(); // the other thread may have failed
        }
    }

    /**
     * Destroys the object of C, when no call uses it any more.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EBUSY} if other objects use it
     */
    abstract void destroy(Call call, long address);

    /** Destroys the object by a function that returns an errno. */
    final void destroy(Call call, Function function, long address) {
        call.check(function, toString(), address);
    }
}
