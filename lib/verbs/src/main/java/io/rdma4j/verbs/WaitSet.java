package io.rdma4j.verbs;

import io.rdma4j.verbs.spi.ParkingDriver;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import io.rdma4j.verbs.wait.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Waits for several objects together: completion channels, asynchronous events of devices, event channels of the
 * connection manager, and sockets. C: poll(2) of {@code ibv_comp_channel.fd}, {@code ibv_context.async_fd} and {@code
 * rdma_event_channel.fd}.
 *
 * <p>A set is level-triggered: an object stays ready until the program has taken all available events or data. The
 * waiting thread drives the device of the object that was ready last. The other devices have threads that drive them.
 *
 * <p>Only one thread at a time may wait. Any thread may call {@link #add}, {@link #remove}, {@link #wakeup} and {@link
 * #close}. Closing a set does not close its objects. A closed object is ready, and should be removed.
 */
public final class WaitSet implements AutoCloseable {
    private static final String OPERATION = "poll";

    private final CopyOnWriteArrayList<Waitable> sources = new CopyOnWriteArrayList<>();
    private final Waiter waiter = new Waiter();
    private @Nullable Waitable lastReady;
    private volatile boolean woken;
    private volatile boolean closed;

    /** Creates an empty set. */
    public WaitSet() {}

    /**
     * Creates a set of objects.
     *
     * @param sources the first objects of the set
     */
    public static WaitSet of(Waitable... sources) {
        WaitSet created = new WaitSet();
        for (Waitable source : sources) {
            created.add(source);
        }
        return created;
    }

    /**
     * Adds an object. A waiting thread also waits for it.
     *
     * @throws IllegalArgumentException if the set already contains the object
     * @throws ClosedException if the set is closed
     */
    public void add(Waitable source) {
        requireOpen();
        if (!sources.addIfAbsent(source)) {
            throw new IllegalArgumentException("the set already contains " + source);
        }
        source.signal().add(waiter);
        waiter.onSignal();
    }

    /** Removes an object; has no effect if the set does not contain it. */
    public void remove(Waitable source) {
        if (sources.remove(source)) {
            source.signal().remove(waiter);
        }
    }

    /**
     * Waits until at least one object is ready.
     *
     * <p>If a program closes or empties other objects while it handles one, later objects of the returned list may no
     * longer be ready.
     *
     * @return the objects that are ready, in the order in which they were added; empty only after {@link #wakeup}
     * @throws ClosedException if the set is closed
     * @throws RdmaException {@code EINTR} if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the set is empty
     */
    public List<Waitable> await() {
        return awaitUntil(Long.MAX_VALUE);
    }

    /**
     * Waits until at least one object is ready, like {@link #await()}, for at most {@code timeout}.
     *
     * @return the objects that are ready; empty only after the timeout or {@link #wakeup}
     */
    public List<Waitable> await(Duration timeout) {
        return awaitUntil(driver().deadlineNanos(timeout));
    }

    /**
     * Drives the device once and returns the objects that are ready, without waiting.
     *
     * @throws ClosedException if the set is closed
     */
    public List<Waitable> poll() {
        requireOpen();
        if (!sources.isEmpty()) {
            boolean _ = driver().poll();
        }
        return ready();
    }

    private List<Waitable> awaitUntil(long deadlineNanos) {
        boolean isInTime = true;
        while (true) {
            waiter.reset();
            requireOpen();
            List<Waitable> ready = ready();
            if (!ready.isEmpty()) {
                return ready;
            }
            if (woken) {
                woken = false;
                return ready;
            }
            if (!isInTime) {
                requireNotInterrupted();
                return ready;
            }
            waiter.yields(sources.stream().allMatch(Waitable::yields));
            isInTime = waiter.await(driver(), deadlineNanos);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException(OPERATION, "the set is closed", "");
        }
    }

    private static void requireNotInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedRdmaException(OPERATION, "the wait of a set", "");
        }
    }

    private List<Waitable> ready() {
        List<Waitable> ready = new ArrayList<>();
        for (Waitable source : sources) {
            if (source.isReady()) {
                ready.add(source);
                lastReady = source;
            }
        }
        return ready;
    }

    /** Returns the driver of the object that was ready last, or otherwise of the first object that uses a device. */
    private WaitDriver driver() {
        if (sources.isEmpty()) {
            requireOpen();
            throw new IllegalStateException("the set is empty: there is nothing to wait for");
        }
        Waitable last = lastReady;
        if (last != null && sources.contains(last)) {
            return last.waitDriver();
        }
        for (Waitable source : sources) {
            WaitDriver driver = source.waitDriver();
            if (!(driver instanceof ParkingDriver)) {
                return driver;
            }
        }
        return sources.getFirst().waitDriver();
    }

    /** Makes the current wait, or the next one, return an empty list. */
    public void wakeup() {
        woken = true;
        waiter.onSignal();
    }

    /**
     * Removes all objects, and ends the current wait with {@link ClosedException}. Closing the set again has no effect.
     */
    @Override
    public void close() {
        closed = true;
        sources.forEach(this::remove);
        waiter.onSignal();
    }
}
