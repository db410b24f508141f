package io.rdma4j.sockets;

import io.rdma4j.sockets.io.EndpointsWait;
import io.rdma4j.sockets.io.Waitable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waits for many sockets at once: RDMA sockets of either kind and ordinary channels, level-triggered as poll(2). Used by one
 * thread at a time. C: {@code rpoll} and {@code rselect}, or {@code repoll_create} and what belongs to it.
 */
public final class RdmaPoll implements AutoCloseable {
    private final EndpointsWait wait = new EndpointsWait();
    private final List<Entry> entries = new ArrayList<>();
    private volatile @Nullable Selector selector;
    private boolean closed;

    private RdmaPoll() {}

    /** Makes one without sockets. C: {@code repoll_create}. */
    public static RdmaPoll open() {
        return new RdmaPoll();
    }

    /** A socket that is waited for. */
    public final class Entry {
        private final Object socket;
        private final @Nullable Waitable endpoint;
        private final @Nullable SelectableChannel channel;
        private final Runnable listener = RdmaPoll.this::wake;
        private EndpointsWait.@Nullable Membership membership;
        private int events;
        private int ready;

        private Entry(Object socket, @Nullable Waitable endpoint, @Nullable SelectableChannel channel, int events) {
            this.socket = socket;
            this.endpoint = endpoint;
            this.channel = channel;
            this.events = events;
            if (endpoint != null) {
                endpoint.addListener(listener);
            }
        }

        /** The socket or channel. */
        public Object socket() {
            return socket;
        }

        /** What is waited for: a set of {@link PollEvents}. */
        public int events() {
            return events;
        }

        /** Waits for something else from now on; 0 for failures and the end only. C: {@code EPOLL_CTL_MOD}. */
        public void events(int value) {
            events = value;
        }

        /** What the last {@link RdmaPoll#await} found it ready for: a set of {@link PollEvents}. C: {@code revents}. */
        public int ready() {
            return ready;
        }

        /** Waits for it no more. C: {@code EPOLL_CTL_DEL}. */
        public void remove() {
            entries.remove(this);
            detach();
            Selector with = selector;
            if (channel != null && with != null && with.isOpen()) {
                try {
                    with.selectNow(key -> {}); // forgets the key: the channel may be added again, or block again
                } catch (IOException failed) {
                    return; // the next wait fails for the same reason, and tells
                }
            }
        }

        private void detach() {
            if (endpoint != null) {
                endpoint.removeListener(listener);
            }
            if (membership != null) {
                wait.leave(membership);
                membership = null;
            }
            Selector with = selector;
            SelectionKey key = channel == null || with == null || !with.isOpen() ? null : channel.keyFor(with);
            if (key != null) {
                key.cancel();
            }
        }

        /** Looks at an RDMA socket; {@code toWait} has the listener told of what comes after this. */
        private boolean look(Waitable own, boolean toWait) throws InterruptedIOException {
            if (membership == null) {
                membership = wait.join(own);
            }
            if (toWait) {
                own.readinessToWait();
            }
            ready = SocketWaits.poll(own, events, Duration.ZERO);
            return ready != 0;
        }
    }

    // ---- sockets

    /** Waits for a stream socket, too. C: {@code EPOLL_CTL_ADD}. */
    public Entry add(RdmaStreamSocket socket, int events) {
        return add(new Entry(socket, socket.endpoint(), null, events));
    }

    /** Waits for a datagram socket, too. */
    public Entry add(RdmaDatagramSocket socket, int events) {
        return add(new Entry(socket, socket.endpoint(), null, events));
    }

    /**
     * Waits for an ordinary channel, too, or a channel of {@link RdmaSockets}.
     *
     * @param channel one that does not block
     * @throws IOException if it cannot be waited for
     */
    public Entry add(SelectableChannel channel, int events) throws IOException {
        requireOpen();
        if (selector == null) {
            selector = RdmaSockets.openSelector();
            wait.waitsElsewhere(true);
        }
        channel.register(selector, 0);
        return add(new Entry(channel, null, channel, events));
    }

    private Entry add(Entry entry) {
        if (closed) {
            entry.detach();
            requireOpen();
        }
        entries.add(entry);
        return entry;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the poll is closed");
        }
    }

    /** All entries, in the order in which they were added; unmodifiable. */
    public List<Entry> entries() {
        return List.copyOf(entries);
    }

    // ---- waiting

    /**
     * Waits until a socket is ready; {@link Entry#ready} tells which, and for what. Failures and the end of a connection are
     * told without being asked for.
     *
     * @param timeout how long; zero only looks, null waits for ever
     * @return how many are ready; 0 when the time is over
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IOException if the ordinary channels cannot be waited for
     */
    public int await(@Nullable Duration timeout) throws IOException {
        requireOpen();
        long deadline = SocketWaits.deadline(timeout);
        while (true) {
            wait.reset();
            int count = look(false);
            if (count != 0 || deadline != Long.MAX_VALUE && System.nanoTime() - deadline >= 0) {
                return count;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("Interrupted system call");
            }
            if (look(true) == 0) {
                await(deadline);
            }
        }
    }

    private int look(boolean toWait) throws IOException {
        int count = 0;
        for (Entry entry : entries) {
            if (entry.endpoint != null && entry.look(entry.endpoint, toWait)) {
                count++;
            }
        }
        return selector == null || toWait ? count : count + lookAtChannels(selector);
    }

    private int lookAtChannels(Selector with) throws IOException {
        for (Entry entry : entries) {
            SelectionKey key = entry.channel == null ? null : entry.channel.keyFor(with);
            if (key != null && key.isValid()) {
                key.interestOps(operations(key, entry.events));
            }
        }
        with.selectedKeys().clear();
        with.selectNow();
        int count = 0;
        for (Entry entry : entries) {
            if (entry.channel != null) {
                entry.ready = eventsOf(entry.channel.keyFor(with), with);
                count += entry.ready == 0 ? 0 : 1;
            }
        }
        return count;
    }

    private static int operations(SelectionKey key, int events) {
        int operations = 0;
        if ((events & PollEvents.IN) != 0) {
            operations |= key.channel() instanceof ServerSocketChannel ? SelectionKey.OP_ACCEPT : SelectionKey.OP_READ;
        }
        if ((events & PollEvents.OUT) != 0) {
            boolean connecting = key.channel() instanceof SocketChannel socket && !socket.isConnected();
            operations |= connecting ? SelectionKey.OP_CONNECT : SelectionKey.OP_WRITE;
        }
        return operations & key.channel().validOps();
    }

    /** A channel that was closed has ended. */
    private static int eventsOf(@Nullable SelectionKey key, Selector with) {
        if (key == null || !key.isValid()) {
            return PollEvents.HANG_UP;
        }
        int ready = with.selectedKeys().contains(key) ? key.readyOps() : 0; // else it is what it was once
        return ((ready & (SelectionKey.OP_READ | SelectionKey.OP_ACCEPT)) != 0 ? PollEvents.IN : 0)
                | ((ready & (SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT)) != 0 ? PollEvents.OUT : 0);
    }

    private void await(long deadlineNanos) throws IOException {
        Selector with = selector;
        if (with == null) {
            wait.await(deadlineNanos);
        } else if (!wait.isSignaled()) {
            // A signal after this look has woken the selector.
            long millis = deadlineNanos == Long.MAX_VALUE
                    ? 0
                    : Math.max(1, (deadlineNanos - System.nanoTime() + 999_999) / 1_000_000);
            with.select(millis);
        }
    }

    private void wake() {
        wait.signal();
        Selector with = selector;
        if (with != null) {
            with.wakeup();
        }
    }

    /** Lets go of all sockets; they stay open. C: {@code rclose} of what {@code repoll_create} made. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        entries.forEach(Entry::detach);
        entries.clear();
        wait.waitsElsewhere(false);
        Selector with = selector;
        if (with != null) {
            with.close();
        }
    }
}
