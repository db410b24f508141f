package io.rdma4j.sockets.nio;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The registration of a channel with an {@link RdmaSelector}. */
final class RdmaSelectionKey extends AbstractSelectionKey {
    private final RdmaSelector selector;
    private final SelectableChannel channel;
    private final AtomicBoolean queued = new AtomicBoolean();
    private volatile int interest;
    private volatile int ready;

    /** The registration of the channel, or of the TCP channel that it uses, with the platform's selector. */
    private volatile @Nullable SelectionKey inner;

    /** The next key to poll. The thread that queues the key sets it, and the selecting thread reads it. */
    @Nullable
    RdmaSelectionKey next;

    /** True if the channel is over RDMA. Used by the selecting thread, like the following fields. */
    boolean isOfRdma;

    /** True if the channel is over RDMA, and the key waits for more than connection requests. */
    boolean isForData;

    /** The operations found ready in this selection. */
    int pending;

    RdmaSelectionKey(RdmaSelector selector, SelectableChannel channel) {
        this.selector = selector;
        this.channel = channel;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public Selector selector() {
        return selector;
    }

    @Override
    public int interestOps() {
        requireValid();
        return interest;
    }

    @Override
    public SelectionKey interestOps(int ops) {
        requireValid();
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException(
                    "Operations " + ops + " are invalid: the channel supports only " + channel.validOps());
        }
        synchronized (this) { // as the methods that change single operations do
            setInterest(ops);
        }
        return this;
    }

    private void setInterest(int ops) {
        interest = ops;
        SelectionKey current = inner;
        if (current != null) {
            try {
                current.interestOps(ops);
            } catch (CancelledKeyException closed) {
                return; // the next selection reports it
            }
            selector.onOrdinaryChange();
        }
        enqueue(false);
    }

    @Override
    public int readyOps() {
        requireValid();
        return ready;
    }

    private void requireValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    int interest() {
        return interest;
    }

    int ready() {
        return ready;
    }

    void ready(int ops) {
        ready = ops;
    }

    @Nullable
    SelectionKey inner() {
        return inner;
    }

    void inner(@Nullable SelectionKey key) {
        inner = key;
    }

    /** Makes the selector poll this key immediately, since the readiness may have changed. */
    void changed() {
        enqueue(true);
    }

    /** Queues this key to be polled, immediately or in the next selection. */
    void enqueue(boolean now) {
        if (channel instanceof RdmaSelectable && queued.compareAndSet(false, true)) {
            selector.add(this);
        }
        if (now) {
            selector.signal();
        }
    }

    /** Records that the key was removed from the keys to poll; a later change queues it again. */
    void dequeued() {
        queued.set(false);
    }
}
