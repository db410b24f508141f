package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.EndpointsWait;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A channel's registration with a {@link RdmaSelector}. */
final class RdmaSelectionKey extends AbstractSelectionKey {
    private final RdmaSelector selector;
    private final SelectableChannel channel;
    private final AtomicBoolean queued = new AtomicBoolean();
    private volatile int interest;
    private volatile int ready;

    /** The registration of the channel, or of the TCP channel inside it, with the platform's selector. */
    private volatile @Nullable SelectionKey inner;

    /** For the selecting thread: the next key to be looked at, where it waits for the channel, and whether over RDMA. */
    @Nullable
    RdmaSelectionKey next;

    EndpointsWait.@Nullable Membership membership;
    boolean isOfRdma;

    /** For the selecting thread: for what it was found ready. */
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
                    "Operations " + ops + ": the channel has " + channel.validOps() + " only");
        }
        synchronized (this) { // as the methods that change single operations do
            setInterest(ops);
        }
        return this;
    }

    private void setInterest(int ops) {
        interest = ops;
        SelectionKey own = inner;
        if (own != null) {
            try {
                own.interestOps(ops);
            } catch (CancelledKeyException closed) {
                return; // the next selection finds out
            }
            selector.onOrdinaryChange();
        }
        look(false);
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

    /** The selector is to look at this key, now: something may have changed. */
    void look() {
        look(true);
    }

    /** The selector is to look at this key, now or when it selects next. */
    void look(boolean now) {
        if (channel instanceof Source && queued.compareAndSet(false, true)) {
            selector.add(this);
        }
        if (now) {
            selector.signal();
        }
    }

    /** It has been taken out of the keys that are to be looked at; what happens from now on puts it in again. */
    void taken() {
        queued.set(false);
    }
}
