package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.Waitable;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/** A channel that is ready when a test says so, and counts how often a selector looks at it. */
final class FakeChannel extends AbstractSelectableChannel implements Source {
    private final KeyList keys = new KeyList();
    private int ready;
    private int looks;
    private @Nullable RuntimeException failure;
    private @Nullable SelectableChannel inside;

    FakeChannel(SelectorProvider provider) {
        super(provider);
    }

    /** Becomes ready, and tells its selectors. */
    void ready(int ops) {
        ready = ops;
        keys.changed();
    }

    /** Every look fails from now on; null for none. */
    void failing(@Nullable RuntimeException why) {
        failure = why;
        keys.changed();
    }

    /** Has an ordinary channel inside from now on. */
    void inside(SelectableChannel channel) {
        inside = channel;
        keys.changed();
    }

    int looks() {
        return looks;
    }

    @Override
    public int readyOps(int interest, boolean toWait) {
        looks++;
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
    public @Nullable Waitable endpoint() {
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
