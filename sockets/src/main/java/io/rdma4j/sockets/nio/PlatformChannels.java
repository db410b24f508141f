package io.rdma4j.sockets.nio;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The ordinary channels of a selector, at a selector of the platform. While the selecting thread waits for RDMA, a thread of
 * its own waits here for them and signals it; where there are ordinary channels only, the selecting thread waits here
 * itself.
 */
final class PlatformChannels {
    private static final Logger LOGGER = System.getLogger(PlatformChannels.class.getName());

    private final Selector selector;
    private final Runnable signal;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable Thread watcher;

    /** Whether the watcher is to wait, or does. */
    private boolean watching;

    private boolean closed;

    /** Whether a thread waits at the selector in {@link #select}. */
    private volatile boolean selecting;

    PlatformChannels(Selector selector, Runnable signal) {
        this.selector = selector;
        this.signal = signal;
    }

    SelectionKey register(SelectableChannel channel, int ops, RdmaSelectionKey key) throws IOException {
        return channel.register(selector, ops, key);
    }

    boolean isEmpty() {
        return selector.keys().isEmpty();
    }

    /** Something about the channels has changed that a wait does not see by itself. */
    void onChange() {
        lock.lock();
        try {
            if (watching) {
                selector.wakeup();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends {@link #select}. */
    void wakeup() {
        if (selecting) {
            selector.wakeup();
        }
    }

    /** Looks what is ready; nothing while the watcher waits, which would have signaled it. */
    void selectNow(Consumer<SelectionKey> action) throws IOException {
        lock.lock();
        try {
            if (watching) {
                return;
            }
        } finally {
            lock.unlock();
        }
        selector.selectNow(action);
    }

    /** Lets go of the channels of cancelled keys; a channel that was closed is closed in truth only by this. */
    void flush() throws IOException {
        stopWatching();
        selector.selectNow(key -> {});
    }

    /**
     * Waits in the calling thread until something is ready or {@link #wakeup}.
     *
     * @param isOver asked once the wait can be ended by {@link #wakeup}
     * @param timeoutMillis 0 for ever
     */
    void select(BooleanSupplier isOver, Consumer<SelectionKey> action, long timeoutMillis) throws IOException {
        stopWatching();
        selecting = true;
        try {
            if (!isOver.getAsBoolean()) {
                selector.select(action, timeoutMillis);
            }
        } finally {
            selecting = false;
        }
    }

    /** Has the watcher signal as soon as something is ready. */
    void watch() {
        lock.lock();
        try {
            if (closed || watching) {
                return;
            }
            watching = true;
            if (watcher == null) {
                watcher = Thread.ofPlatform()
                        .daemon()
                        .name("rdma4j-platform-channels")
                        .start(this::run);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Has the watcher end its wait; then {@link #selectNow} looks. */
    void stopWatching() {
        lock.lock();
        try {
            while (watching) {
                selector.wakeup();
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (awaitWork()) {
            try {
                selector.select(key -> {});
            } catch (IOException | RuntimeException e) {
                LOGGER.log(Level.DEBUG, "The selecting thread finds out by itself", e);
            }
            lock.lock();
            try {
                watching = false;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
            signal.run();
        }
    }

    private boolean awaitWork() {
        lock.lock();
        try {
            while (!watching && !closed) {
                changed.awaitUninterruptibly();
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    void close() throws IOException {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        selector.close();
        lock.lock();
        try {
            watching = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
