package io.rdma4j.sockets;

import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.sockets.io.WaitDeadline;
import io.rdma4j.sockets.nio.RdmaSelector;
import io.rdma4j.verbs.wait.SignalListener;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
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
 * A level-triggered poll of many sockets, like poll(2). It accepts stream and datagram RDMA sockets and ordinary
 * channels. Only one thread at a time may use a poll. C: {@code rpoll} and {@code rselect}, or {@code repoll_create}
 * and related calls.
 */
public final class RdmaPoll implements AutoCloseable {
    private final Waiter waiter = new Waiter();
    private final List<Entry> entries = new ArrayList<>();
    private volatile @Nullable RdmaSelector selector;

    /** Drives the device of the RDMA sockets while this thread waits; determined before each wait. */
    private @Nullable WaitDriver driver;

    private final WaitDeadline deadline = new WaitDeadline();

    /** True if an RDMA socket is polled for more than connection requests; determined before each wait. */
    private boolean waitsForData;

    private boolean closed;

    private RdmaPoll() {}

    /** Opens a poll without sockets. C: {@code repoll_create}. */
    public static RdmaPoll open() {
        return new RdmaPoll();
    }

    /** A socket or channel of this poll. */
    public final class Entry {
        private final Object socket;
        private final @Nullable SocketEndpoint endpoint;
        private final @Nullable SelectableChannel channel;
        private final SignalListener listener = RdmaPoll.this::wake;
        private int events;
        private int ready;

        private Entry(
                Object socket, @Nullable SocketEndpoint endpoint, @Nullable SelectableChannel channel, int events) {
            this.socket = socket;
            this.endpoint = endpoint;
            this.channel = channel;
            this.events = events;
            if (endpoint != null) {
                endpoint.signal().add(listener);
            }
        }

        /** Returns the socket or channel. */
        public Object socket() {
            return socket;
        }

        /** Returns the events to wait for: a set of {@link PollEvents}. */
        public int events() {
            return events;
        }

        /** Sets the events to wait for; 0 for errors and hang-up only. C: {@code EPOLL_CTL_MOD}. */
        public void events(int value) {
            events = value;
        }

        /**
         * Returns the events found by the last {@link RdmaPoll#await}: a set of {@link PollEvents}. C: {@code revents}.
         */
        public int ready() {
            return ready;
        }

        /** Removes the socket from the poll. C: {@code EPOLL_CTL_DEL}. */
        public void remove() {
            entries.remove(this);
            detach();
            Selector current = selector;
            if (channel != null && current != null && current.isOpen()) {
                try {
                    current.selectNow(key -> {}); // removes the key: the channel may be added again, or made blocking
                } catch (IOException failed) {
                    return; // the next wait fails for the same reason and reports it
                }
            }
        }

        private void detach() {
            if (endpoint != null) {
                endpoint.signal().remove(listener);
            }
            Selector current = selector;
            SelectionKey key = channel == null || current == null || !current.isOpen() ? null : channel.keyFor(current);
            if (key != null) {
                key.cancel();
            }
        }

        /** Polls an RDMA socket. With {@code toWait}, the listener is notified of later changes. */
        private boolean poll(SocketEndpoint polled, boolean toWait) throws InterruptedIOException {
            WaitDriver used = polled.waitDriver();
            driver = used == null ? driver : used;
            if (toWait) {
                waitsForData |= !polled.yields();
                polled.readinessToWait();
            }
            ready = SocketWaits.poll(polled, events, Duration.ZERO);
            return ready != 0;
        }
    }

    // ---- sockets

    /** Adds a stream socket. C: {@code EPOLL_CTL_ADD}. */
    public Entry add(RdmaStreamSocket socket, int events) {
        return add(new Entry(socket, socket.endpoint(), null, events));
    }

    /** Adds a datagram socket. C: {@code EPOLL_CTL_ADD}. */
    public Entry add(RdmaDatagramSocket socket, int events) {
        return add(new Entry(socket, socket.endpoint(), null, events));
    }

    /**
     * Adds an ordinary channel, or a channel of {@link RdmaSockets}.
     *
     * @param channel a channel in non-blocking mode
     * @throws IOException if the channel cannot be registered
     */
    public Entry add(SelectableChannel channel, int events) throws IOException {
        requireOpen();
        if (selector == null) {
            selector = (RdmaSelector) RdmaSockets.openSelector();
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

    /** Returns all entries in the order in which they were added; unmodifiable. */
    public List<Entry> entries() {
        return List.copyOf(entries);
    }

    // ---- waiting

    /**
     * Waits until a socket is ready; {@link Entry#ready} returns the events of each. {@link PollEvents#ERROR} and
     * {@link PollEvents#HANG_UP} of RDMA sockets are always reported, those of ordinary channels are not.
     *
     * @param timeout the maximum time to wait; zero to poll without blocking, null to wait indefinitely
     * @return the number of sockets that are ready; 0 on timeout
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IOException if polling the ordinary channels fails
     */
    public int await(@Nullable Duration timeout) throws IOException {
        requireOpen();
        deadline.start(SocketWaits.nanos(timeout));
        while (true) {
            waiter.reset();
            int count = poll(false);
            deadline.use(stackDriver());
            if (count != 0 || deadline.isOver()) {
                return count;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("Interrupted system call");
            }
            if (poll(true) == 0) {
                await();
            }
        }
    }

    private int poll(boolean toWait) throws IOException {
        Selector current = selector;
        int count = 0;
        driver = null;
        if (toWait) {
            waitsForData = false;
        }
        for (Entry entry : entries) {
            if (entry.endpoint != null && entry.poll(entry.endpoint, toWait)) {
                count++;
            }
        }
        return current == null || toWait ? count : count + pollChannels(current);
    }

    private int pollChannels(Selector current) throws IOException {
        for (Entry entry : entries) {
            SelectionKey key = entry.channel == null ? null : entry.channel.keyFor(current);
            if (key != null && key.isValid()) {
                key.interestOps(operations(key, entry.events));
            }
        }
        current.selectedKeys().clear();
        current.selectNow();
        int count = 0;
        for (Entry entry : entries) {
            if (entry.channel != null) {
                entry.ready = eventsOf(entry.channel.keyFor(current), current);
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

    /** Returns the events of a channel; for a closed channel, {@link PollEvents#HANG_UP}. */
    private static int eventsOf(@Nullable SelectionKey key, Selector current) {
        if (key == null || !key.isValid()) {
            return PollEvents.HANG_UP;
        }
        int ready = current.selectedKeys().contains(key) ? key.readyOps() : 0; // otherwise readyOps is outdated
        return ((ready & (SelectionKey.OP_READ | SelectionKey.OP_ACCEPT)) != 0 ? PollEvents.IN : 0)
                | ((ready & (SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT)) != 0 ? PollEvents.OUT : 0);
    }

    private void await() throws IOException {
        RdmaSelector current = selector;
        deadline.use(stackDriver());
        if (current == null) {
            waiter.yields(!waitsForData);
            boolean _ = deadline.await(waiter);
        } else if (!waiter.isSignaled()) {
            // A signal after this check wakes the selector.
            current.driveAlso(driver);
            current.select(deadline.selectMillis());
        }
    }

    /**
     * Returns the driver of the sockets, or of the channels if there are only channels; null if none of them uses a
     * device.
     */
    private @Nullable WaitDriver stackDriver() {
        RdmaSelector current = selector;
        return driver == null && current != null ? current.channelDriver() : driver;
    }

    private void wake() {
        waiter.onSignal();
        Selector current = selector;
        if (current != null) {
            current.wakeup();
        }
    }

    /**
     * Removes all sockets, which stay open. C: {@code rclose} of the descriptor that {@code repoll_create} returned.
     */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        entries.forEach(Entry::detach);
        entries.clear();
        Selector current = selector;
        if (current != null) {
            current.close();
        }
    }
}
