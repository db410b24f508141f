package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.SocketEndpoint;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/** A channel for which a test sets the readiness. It counts how often a selector polls it. */
final class FakeChannel extends AbstractSelectableChannel implements RdmaSelectable {
    private final KeyList keys = new KeyList();
    private int ready;
    private int polls;
    private @Nullable RuntimeException failure;
    private @Nullable SelectableChannel inside;

    FakeChannel(SelectorProvider provider) {
        super(provider);
    }

    /** Sets the readiness and notifies the selectors. */
    void ready(int ops) {
        ready = ops;
        keys.changed();
    }

    /** Makes every poll fail; null for none. */
    void failing(@Nullable RuntimeException why) {
        failure = why;
        keys.changed();
    }

    /** Sets the ordinary channel that this channel uses. */
    void inside(SelectableChannel channel) {
        inside = channel;
        keys.changed();
    }

    int polls() {
        return polls;
    }

    @Override
    public int readyOps(int interest, boolean toWait) {
        polls++;
        if (failure != null) {
            throw failure;
        }
        return ready & interest;
    }

    @Override
    public @Nullable SelectableChannel platformChannel() {
        return inside;
    }

    @Override
    public @Nullable SocketEndpoint endpoint() {
        return null;
    }

    @Override
    public KeyList keys() {
        return keys;
    }

    @Override
    public int validOps() {
        return SelectionKey.OP_READ | SelectionKey.OP_WRITE;
    }

    @Override
    protected void implCloseSelectableChannel() {
        keys.changed();
    }

    @Override
    protected void implConfigureBlocking(boolean block) {
        // It never blocks.
    }
}
