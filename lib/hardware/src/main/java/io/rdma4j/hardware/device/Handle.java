package io.rdma4j.hardware.device;

import io.rdma4j.verbs.ClosedException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/**
 * The address of an object of libibverbs, with a count of the calls that use it at present. The function that destroys
 * the object also frees it, so no other call may be using it then. Thread safe.
 */
final class Handle {
    private static final long CLOSED = Long.MIN_VALUE;

    /** The interval at which a thread that closes the object checks whether other calls have ended. */
    private static final long WAIT_NANOS = 20_000;

    private final long address;

    /** The number of calls in progress; negative once the object is being closed. */
    private final AtomicLong uses = new AtomicLong();

    Handle(long address) {
        this.address = address;
    }

    /** Returns the address, for a caller that has entered or holds a lock that {@link #close} takes. */
    long address() {
        return address;
    }

    boolean isOpen() {
        return uses.get() >= 0;
    }

    /**
     * Starts a call. The object stays valid until {@link #exit}.
     *
     * @throws ClosedException if the object is closed
     */
    long enter(String operation, Object object) {
        if (uses.incrementAndGet() <= 0) {
            uses.decrementAndGet();
            throw closed(operation, object);
        }
        return address;
    }

    /** Ends a call. */
    void exit() {
        uses.decrementAndGet();
    }

    static ClosedException closed(String operation, Object object) {
        return new ClosedException(operation, object + " is closed", "");
    }

    /**
     * Closes the object once: waits until no call uses it, and destroys it. If that fails, the object stays open.
     *
     * @param destroy destroys the object at the address
     */
    void close(LongConsumer destroy) {
        if (uses.getAndUpdate(count -> count | CLOSED) < 0) {
            return;
        }
        boolean isDestroyed = false;
        try {
            while (uses.get() != CLOSED) {
                LockSupport.parkNanos(this, WAIT_NANOS);
            }
            destroy.accept(address);
            isDestroyed = true;
        } finally {
            if (!isDestroyed) {
                uses.getAndUpdate(count -> count & ~CLOSED);
            }
        }
    }
}
