package io.rdma4j.hardware.system;

import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.verbs.spi.StackReserve;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the descriptors of devices: completion channels, asynchronous events and the connection manager's events. A
 * device makes progress by itself, so only its descriptors have to be read. Thread safe.
 *
 * <p>One thread, the leader, waits in the kernel for all descriptors and calls their handlers. The other waiting
 * threads park, and the leader wakes them when it reads their events. A waiting platform thread leads if no other
 * thread does, so that its own event reaches it without a thread switch. A virtual thread never leads, since it would
 * pin its carrier.
 *
 * <p>A background thread of this class leads while no application thread does: for virtual threads, for listeners of a
 * signal, and while the program waits for another device. It does not take over between two waits of an application
 * thread that follow each other within {@value #PAUSE_NANOS} ns.
 */
public final class DescriptorPoller implements WaitDriver {
    /** The interval between checks for leading application threads. */
    static final long PAUSE_NANOS = 4_000_000;

    /**
     * The maximum time for which a leading application thread blocks, since an interrupt does not end a system call.
     */
    private static final int MAX_BLOCK_MILLIS = 100;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private static final class Holder {
        static final DescriptorPoller OF_PROCESS = new DescriptorPoller();
    }

    private final EventPoll events = new EventPoll();
    private final EventPoll.Buffer buffer = new EventPoll.Buffer();
    private final EventPoll.Buffer backgroundBuffer = new EventPoll.Buffer();
    private final AtomicReference<@Nullable Thread> leader = new AtomicReference<>();
    private final AtomicInteger leaderships = new AtomicInteger();
    private final ConcurrentLinkedDeque<Thread> followers = new ConcurrentLinkedDeque<>();
    private final AtomicInteger virtualWaiters = new AtomicInteger();
    private final Thread background;
    private volatile boolean backgroundRests;

    private DescriptorPoller() {
        background = SharedThread.unstarted("rdma4j-hardware", this::runBackground);
        background.start();
    }

    /** Returns the poller of this process, which is never closed. */
    public static DescriptorPoller ofProcess() {
        return Holder.OF_PROCESS;
    }

    /**
     * Adds a descriptor that does not block.
     *
     * @throws io.rdma4j.verbs.RdmaException if the system's limit of watched descriptors is reached
     */
    public void add(int descriptor, DescriptorHandler handler) {
        events.add(descriptor, handler);
    }

    /** Removes a descriptor, before it is closed. Another thread's call of its handler may still be running. */
    public void remove(int descriptor) {
        events.remove(descriptor);
    }

    @Override
    public boolean driveUntil(Waiter waiter, BooleanSupplier done, long deadlineNanos) {
        Thread current = Thread.currentThread();
        if (current.equals(leader.get())) {
            throw new IllegalStateException("a listener of a signal must not wait");
        }
        StackReserve.require();
        if (current.isVirtual()) {
            return awaitVirtual(done, deadlineNanos);
        }
        followers.addFirst(current);
        try {
            while (!done.getAsBoolean()) {
                long remainingNanos = remainingNanos(deadlineNanos);
                if (remainingNanos <= 0 || current.isInterrupted()) {
                    return done.getAsBoolean();
                }
                if (takeLead(current)) {
                    lead(done, deadlineNanos);
                } else {
                    LockSupport.parkNanos(this, remainingNanos);
                }
            }
            return true;
        } finally {
            followers.remove(current);
            if (leader.compareAndSet(current, null)) {
                promote();
            }
        }
    }

    private boolean awaitVirtual(BooleanSupplier done, long deadlineNanos) {
        virtualWaiters.incrementAndGet();
        try {
            if (leader.get() == null) {
                LockSupport.unpark(background);
            }
            while (!done.getAsBoolean()) {
                long remainingNanos = remainingNanos(deadlineNanos);
                if (remainingNanos <= 0 || Thread.currentThread().isInterrupted()) {
                    return done.getAsBoolean();
                }
                LockSupport.parkNanos(this, remainingNanos);
            }
            return true;
        } finally {
            virtualWaiters.decrementAndGet();
        }
    }

    private long remainingNanos(long deadlineNanos) {
        return deadlineNanos == Long.MAX_VALUE ? Long.MAX_VALUE : deadlineNanos - nanoTime();
    }

    /**
     * Becomes the leader if no thread leads, or instead of the background thread, which returns from the kernel and
     * pauses.
     */
    private boolean takeLead(Thread current) {
        if (leader.compareAndSet(null, current)) {
            leaderships.incrementAndGet();
            return true;
        }
        if (leader.compareAndSet(background, current)) {
            leaderships.incrementAndGet();
            events.wake();
            return true;
        }
        return current.equals(leader.get());
    }

    private void lead(BooleanSupplier done, long deadlineNanos) {
        while (!done.getAsBoolean() && !Thread.currentThread().isInterrupted()) {
            long remainingNanos = remainingNanos(deadlineNanos);
            if (remainingNanos <= 0) {
                return;
            }
            boolean _ = events.await(buffer, timeoutMillis(remainingNanos));
        }
    }

    private static int timeoutMillis(long remainingNanos) {
        return (int) Math.min(MAX_BLOCK_MILLIS, (remainingNanos - 1) / NANOS_PER_MILLI + 1);
    }

    /** Wakes the next leader: the latest follower, or otherwise the background thread if it is needed immediately. */
    private void promote() {
        Thread next = followers.peekFirst();
        if (next != null) {
            LockSupport.unpark(next);
        } else if (backgroundRests || virtualWaiters.get() > 0) {
            LockSupport.unpark(background);
        }
    }

    @Override
    public void wake(Waiter waiter) {
        Thread waiting = waiter.thread();
        if (waiting != null && waiting.equals(leader.get())) {
            events.wake();
        }
    }

    @Override
    public boolean poll() {
        StackReserve.require();
        Thread current = Thread.currentThread();
        if (!leader.compareAndSet(null, current)) {
            return false; // another thread waits for the descriptors and reads them
        }
        try {
            return events.await(buffer, 0);
        } finally {
            leader.set(null);
            promote();
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    private boolean runBackground() {
        var _ = Thread.interrupted(); // no code has a reason to interrupt this thread
        // It still leads if its last wait failed.
        if (background.equals(leader.get()) || leader.compareAndSet(null, background)) {
            while (background.equals(leader.get())) {
                boolean _ = events.await(backgroundBuffer, -1);
            }
        }
        pause();
        return true;
    }

    /** Waits until no application thread has led for a pause's time, or a virtual thread waits. */
    private void pause() {
        int seen;
        do {
            seen = leaderships.get();
            LockSupport.parkNanos(this, PAUSE_NANOS);
            if (leader.get() != null && seen == leaderships.get()) {
                rest();
            }
        } while (virtualWaiters.get() == 0 && seen != leaderships.get());
    }

    /** Parks while the same thread leads. */
    private void rest() {
        backgroundRests = true;
        if (leader.get() != null) {
            LockSupport.park(this);
        }
        backgroundRests = false;
    }
}
