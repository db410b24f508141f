package io.rdma4j;

import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Iterates over the messages of a connection until it ends. Used by one thread. */
final class Messages implements Iterator<Message> {
    private final Connection connection;
    private @Nullable Message next;

    Messages(Connection connection) {
        this.connection = connection;
    }

    @Override
    public boolean hasNext() {
        if (next == null) {
            try {
                next = connection.receive();
            } catch (DisconnectedException | ClosedException ended) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Message next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the connection has ended");
        }
        Message message = Objects.requireNonNull(next);
        next = null;
        return message;
    }
}
