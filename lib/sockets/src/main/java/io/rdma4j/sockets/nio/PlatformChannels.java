package io.rdma4j.sockets.nio;

import io.rdma4j.verbs.spi.SharedThread;
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
 * The ordinary channels of a selector, registered with a selector of the platform. While the selecting thread waits for
 * RDMA channels, a separate thread (the watcher) waits for the ordinary ones and signals the selecting thread. If there
 * are only ordinary channels, the selecting thread waits for them itself.
 */
final class PlatformChannels {
    private final Selector selector;
    private final Runnable signal;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable Thread watcher;

    /** True while the watcher waits or is about to wait. */
    private boolean watching;

    private boolean closed;

    /** True while a thread waits at the selector in {@link #select}. */
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

    /** Reports a change of a channel that a wait at the selector does not notice by itself. */
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

    /**
     * Polls the channels. Does nothing while the watcher waits, because the watcher would have signaled a ready
     * channel.
     */
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

    /**
     * Removes the channels of cancelled keys. Only then does the platform release the file descriptor of a closed
     * channel.
     */
    void flush() throws IOException {
        stopWatching();
        selector.selectNow(key -> {});
    }

    /**
     * Waits in the calling thread until a channel is ready or {@link #wakeup} is called.
     *
     * @param isOver checked after {@link #wakeup} can end the wait
     * @param timeoutMillis the maximum time to wait in milliseconds; 0 to wait indefinitely
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

    /** Makes the watcher signal as soon as a channel is ready. */
    void watch() {
        lock.lock();
        try {
            if (closed || watching) {
                return;
            }
            if (watcher == null) {
                watcher = SharedThread.start("rdma4j-platform-channels", this::watchNext);
            }
            watching = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the watcher's wait, so that {@link #selectNow} polls again. */
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

    private boolean watchNext() {
        if (!awaitWork()) {
            return false;
        }
        try {
            selector.select(key -> {});
        } catch (IOException | RuntimeException e) {
            logger().log(Level.DEBUG, "Waiting for ordinary channels failed; the selecting thread handles it", e);
        } finally {
            endWatching(); // the selecting thread waits for that
            signal.run();
        }
        return true;
    }

    private void endWatching() {
        lock.lock();
        try {
            watching = false;
            changed.signalAll();
        } finally {
            lock.unlock();
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
        try {
            selector.close();
        } finally {
            endWatching();
        }
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(PlatformChannels.class.getName());
    }
}
