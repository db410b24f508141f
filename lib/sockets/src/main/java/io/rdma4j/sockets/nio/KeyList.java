package io.rdma4j.sockets.nio;

import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CopyOnWriteArrayList;

/** The selection keys of a channel. Thread safe. */
final class KeyList {
    private final CopyOnWriteArrayList<RdmaSelectionKey> keys = new CopyOnWriteArrayList<>();

    void add(RdmaSelectionKey key) {
        keys.add(key);
    }

    void remove(RdmaSelectionKey key) {
        keys.remove(key);
    }

    /** Notifies the selectors that the readiness of the channel may have changed. */
    void changed() {
        for (RdmaSelectionKey key : keys) {
            key.changed();
        }
    }

    /**
     * Cancels the registrations at the platform's selectors that belong to cancelled keys, so that the platform's
     * channel can be made blocking.
     */
    void cancelInner(SelectableChannel platformChannel) {
        for (RdmaSelectionKey key : keys) {
            SelectionKey inner = key.isValid() ? null : key.inner();
            if (inner != null && inner.channel().equals(platformChannel)) {
                inner.cancel();
            }
        }
    }
}
