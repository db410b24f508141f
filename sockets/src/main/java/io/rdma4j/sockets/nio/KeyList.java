package io.rdma4j.sockets.nio;

import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CopyOnWriteArrayList;

/** The keys of a channel. Thread safe. */
final class KeyList {
    private final CopyOnWriteArrayList<RdmaSelectionKey> keys = new CopyOnWriteArrayList<>();

    void add(RdmaSelectionKey key) {
        keys.add(key);
    }

    void remove(RdmaSelectionKey key) {
        keys.remove(key);
    }

    /** Anything about the channel may have changed: its selectors are to look. */
    void changed() {
        for (RdmaSelectionKey key : keys) {
            key.look();
        }
    }

    /** Cancels what stands for cancelled keys at the platform's selectors, so that the channel inside may block again. */
    void forgetCancelled(SelectableChannel inside) {
        for (RdmaSelectionKey key : keys) {
            SelectionKey inner = key.isValid() ? null : key.inner();
            if (inner != null && inner.channel().equals(inside)) {
                inner.cancel();
            }
        }
    }
}
