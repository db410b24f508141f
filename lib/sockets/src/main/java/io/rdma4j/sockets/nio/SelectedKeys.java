package io.rdma4j.sockets.nio;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;

/** The selected keys. The application can remove keys, but not add them. */
final class SelectedKeys extends AbstractSet<SelectionKey> {
    private final Set<SelectionKey> keys = new HashSet<>();

    /** Adds a key, for the selector. */
    boolean select(SelectionKey key) {
        return keys.add(key);
    }

    @Override
    public Iterator<SelectionKey> iterator() {
        return keys.iterator();
    }

    @Override
    public int size() {
        return keys.size();
    }

    @Override
    public boolean contains(Object key) {
        return keys.contains(key);
    }

    @Override
    public boolean remove(Object key) {
        return keys.remove(key);
    }

    @Override
    public boolean removeAll(Collection<?> others) {
        return keys.removeAll(others);
    }

    @Override
    public void clear() {
        keys.clear();
    }
}
