package io.rdma4j.verbs.wait;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Notifies waiting threads that a state may have changed, such as the events of a completion channel. Thread safe.
 *
 * <p>A thread that changes the state calls {@link #raise} after the change. Without listeners this costs two loads and
 * a fence.
 */
public final class Signal {
    private static final Consumer<SignalListener> CALL = Signal::call;

    private final ConcurrentLinkedQueue<SignalListener> listeners = new ConcurrentLinkedQueue<>();

    /** Creates a signal without listeners. */
    public Signal() {}

    /** Calls all listeners, so that waiting threads check their conditions again. */
    public void raise() {
        // Orders the change before the check of the list: a waiter enters the list before it checks the state.
        VarHandle.fullFence();
        if (listeners.isEmpty()) {
            return;
        }
        listeners.forEach(CALL); // allocates nothing, unlike an iterator
    }

    /** Calls a listener. Its failure must not affect the thread that drives the device, or the other listeners. */
    private static void call(SignalListener listener) {
        try {
            listener.onSignal();
        } catch (RuntimeException | Error fault) {
            report(fault);
        }
    }

    /** Logs the fault. Never throws, even if memory for the text is missing, or a log handler fails. */
    private static void report(Throwable fault) {
        try {
            System.getLogger(Signal.class.getName())
                    .log(System.Logger.Level.WARNING, "the listener of a signal failed", fault);
        } catch (RuntimeException | Error again) {
            return; // only the report is lost
        }
    }

    /**
     * Waits until a condition holds.
     *
     * @param driver drives the device meanwhile
     * @param done the condition: cheap, and callable by any thread at any time. Code that can make it true must raise
     *     this signal
     * @param deadlineNanos the time of {@link WaitDriver#nanoTime} at which to stop waiting, or {@link Long#MAX_VALUE}
     * @return the condition: false after the deadline, or if the thread is interrupted; its interrupt status stays set
     */
    public boolean await(WaitDriver driver, BooleanSupplier done, long deadlineNanos) {
        return await(driver, done, deadlineNanos, false);
    }

    /**
     * Waits until a condition holds, like {@link #await(WaitDriver, BooleanSupplier, long)}.
     *
     * @param yields see {@link Waiter#Waiter(boolean)}
     */
    public boolean await(WaitDriver driver, BooleanSupplier done, long deadlineNanos, boolean yields) {
        if (done.getAsBoolean()) {
            return true;
        }
        Waiter waiter = new Waiter(yields);
        add(waiter);
        try {
            return waiter.await(driver, done, deadlineNanos);
        } finally {
            remove(waiter);
        }
    }

    /**
     * Adds a listener. The caller checks the state after this call.
     *
     * @param listener a {@link Waiter}, or any other listener
     */
    public void add(SignalListener listener) {
        listeners.add(listener);
        VarHandle.fullFence();
    }

    /** Removes a listener; has no effect if it was not added. Another thread may still be calling it. */
    public void remove(SignalListener listener) {
        var _ = listeners.remove(listener);
    }
}
