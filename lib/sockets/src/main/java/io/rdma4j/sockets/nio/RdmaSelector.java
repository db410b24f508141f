package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.sockets.io.SystemTime;
import io.rdma4j.sockets.io.WaitDeadline;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A selector of RDMA channels and ordinary ones. It is level-triggered: a key that was ready is polled in every
 * selection until it is no longer ready. Any other key is polled when its channel reports a possible change. Therefore,
 * the cost of a selection depends on the number of ready and changed channels, not on the number of all channels.
 *
 * <p>While the selecting thread blocks, it drives the devices of its channels.
 *
 * <p>An ordinary channel also has a key of the platform's selector. That key is valid until the first selection after
 * the channel's own key was cancelled; only then can the channel be made blocking.
 */
public final class RdmaSelector extends AbstractSelector {
    private static final int NO_TIMEOUT = -1;

    /** The maximum time from the setting of a thread's interrupt status to the corresponding wakeup. */
    private static final long MAX_INTERRUPT_NANOS = 50_000_000;

    private final Set<RdmaSelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> publicKeys = Collections.unmodifiableSet(keys);
    private final SelectedKeys selected = new SelectedKeys();
    private final Waiter waiter = new Waiter();

    /** Drives the RDMA channels while this thread waits: the driver of the channel that was polled last. */
    private @Nullable WaitDriver driver;

    /** Drives sockets that are not registered with this selector, but for which the selecting thread also waits. */
    private volatile @Nullable WaitDriver otherDriver;

    /** The keys to poll, linked by {@link RdmaSelectionKey#next}. */
    private final AtomicReference<@Nullable RdmaSelectionKey> changedKeys = new AtomicReference<>();

    private final List<RdmaSelectionKey> readyKeys = new ArrayList<>();
    private volatile @Nullable PlatformChannels platform;
    private volatile boolean woken;
    private boolean inSelect;
    private final WaitDeadline deadline = new WaitDeadline();
    private int keysOfRdma;

    /** The number of keys of RDMA channels that wait for more than connection requests. */
    private int keysForData;

    /** The action of the selection in progress. */
    private @Nullable Consumer<SelectionKey> action;

    private int count;

    /** True if a channel was ready, which ends the selection even if no ready set has changed. */
    private boolean found;

    /** Opens a selector for a provider. */
    public RdmaSelector(SelectorProvider provider) {
        super(provider);
    }

    // ---- keys

    @Override
    public Set<SelectionKey> keys() {
        requireOpen();
        return publicKeys;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        requireOpen();
        return selected;
    }

    private void requireOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, @Nullable Object attachment) {
        requireOpen();
        RdmaSelectionKey key = new RdmaSelectionKey(this, channel);
        key.attach(attachment);
        keys.add(key);
        if (channel instanceof RdmaSelectable source) {
            source.keys().add(key);
        } else {
            watchOrdinary(key, channel);
        }
        try {
            key.interestOps(ops);
        } catch (IllegalArgumentException refused) {
            key.cancel();
            throw refused;
        }
        if (!isOpen()) {
            removeKey(key);
            throw new ClosedSelectorException();
        }
        return key;
    }

    private void watchOrdinary(RdmaSelectionKey key, SelectableChannel channel) {
        try {
            key.inner(platform().register(channel, 0, key));
        } catch (IOException | IllegalSelectorException foreign) {
            keys.remove(key);
            IllegalSelectorException refused = new IllegalSelectorException();
            refused.initCause(foreign);
            throw refused;
        }
    }

    private PlatformChannels platform() throws IOException {
        PlatformChannels current = platform;
        if (current == null) {
            synchronized (changedKeys) {
                current = platform;
                if (current == null) {
                    current = new PlatformChannels(Platform.provider().openSelector(), this::signal);
                    platform = current;
                }
            }
        }
        return current;
    }

    /** Adds a key to the keys to poll. Called by any thread, once per key until {@link RdmaSelectionKey#dequeued}. */
    void add(RdmaSelectionKey key) {
        RdmaSelectionKey first;
        do {
            first = changedKeys.get();
            key.next = first;
        } while (!changedKeys.compareAndSet(first, key));
    }

    /** Makes a waiting selection poll its channels. */
    void signal() {
        waiter.onSignal();
        PlatformChannels current = platform;
        if (current != null) {
            current.wakeup();
        }
    }

    /** Handles a changed registration at the platform's selector. */
    void onOrdinaryChange() {
        PlatformChannels current = platform;
        if (current != null) {
            current.onChange();
        }
    }

    // ---- selecting

    @Override
    public int selectNow() throws IOException {
        return lockAndSelect(null, 0);
    }

    @Override
    public int select() throws IOException {
        return lockAndSelect(null, NO_TIMEOUT);
    }

    @Override
    public int select(long timeoutMillis) throws IOException {
        return lockAndSelect(null, timeout(timeoutMillis));
    }

    @Override
    public int selectNow(Consumer<SelectionKey> each) throws IOException {
        return lockAndSelect(requireAction(each), 0);
    }

    @Override
    public int select(Consumer<SelectionKey> each) throws IOException {
        return lockAndSelect(requireAction(each), NO_TIMEOUT);
    }

    @Override
    public int select(Consumer<SelectionKey> each, long timeoutMillis) throws IOException {
        return lockAndSelect(requireAction(each), timeout(timeoutMillis));
    }

    private static Consumer<SelectionKey> requireAction(@Nullable Consumer<SelectionKey> each) {
        if (each == null) {
            throw new NullPointerException("action");
        }
        return each;
    }

    private static long timeout(long timeoutMillis) {
        if (timeoutMillis < 0) {
            throw new IllegalArgumentException("Negative timeout");
        }
        return timeoutMillis == 0 ? NO_TIMEOUT : timeoutMillis;
    }

    private int lockAndSelect(@Nullable Consumer<SelectionKey> each, long timeoutMillis) throws IOException {
        synchronized (this) {
            requireOpen();
            if (inSelect) {
                throw new IllegalStateException("select in progress");
            }
            inSelect = true;
            try {
                synchronized (selected) {
                    action = each;
                    return doSelect(timeoutMillis);
                }
            } finally {
                action = null;
                inSelect = false;
            }
        }
    }

    private int doSelect(long timeoutMillis) throws IOException {
        deadline.start(timeoutMillis < 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(timeoutMillis));
        count = 0;
        found = false;
        removeCancelled();
        boolean mayWait = timeoutMillis != 0;
        if (mayWait) {
            begin();
        }
        try {
            select(mayWait);
        } finally {
            if (mayWait) {
                awaitWakeupOfInterrupt();
                end();
            }
            woken = false;
        }
        if (isOpen()) {
            removeCancelled();
        }
        return count;
    }

    private void select(boolean mayWait) throws IOException {
        do {
            waiter.reset();
            pollRdma();
            deadline.use(rdmaDriver());
            boolean waits = mayWait && !found && !isOver();
            PlatformChannels current = platform;
            if (current != null && !current.isEmpty() && !(waits && rdmaDriver() == null)) {
                if (!waits && !found && !(mayWait && woken)) {
                    current.stopWatching(); // nothing was found, but the watcher may not have run yet
                }
                current.selectNow(this::onOrdinaryReady);
                waits &= !found;
            }
            if (!waits) {
                return;
            }
            await();
        } while (!found);
    }

    /**
     * Waits until the thread that interrupts this one has also woken this selector. {@link Thread#interrupt} sets the
     * status first, and a wakeup that comes later would end the next selection. The platform's selector may have taken
     * the wakeup.
     */
    @SuppressWarnings("ThreadPriorityCheck") // a hint that does not affect correctness
    private void awaitWakeupOfInterrupt() {
        PlatformChannels current = platform;
        if (!Thread.currentThread().isInterrupted() || current != null && !current.isEmpty()) {
            return;
        }
        long giveUp = SystemTime.nanos() + MAX_INTERRUPT_NANOS; // system time: for another thread of this process
        while (!woken && isOpen() && SystemTime.nanos() - giveUp < 0) {
            Thread.yield();
        }
    }

    private boolean isOver() {
        return woken || !isOpen() || Thread.currentThread().isInterrupted() || deadline.isOver();
    }

    private void await() throws IOException {
        PlatformChannels current = platform;
        WaitDriver rdma = rdmaDriver();
        deadline.use(rdma);
        if (current != null && !current.isEmpty()) {
            if (rdma == null) {
                current.select(waiter::isSignaled, this::onOrdinaryReady, deadline.selectMillis());
                return;
            }
            current.watch();
        }
        waiter.yields(keysForData == 0 && otherDriver == null);
        boolean _ = deadline.await(waiter);
    }

    /** Returns the driver of the registered RDMA channels, as of the last selection; null if there are none. */
    public @Nullable WaitDriver channelDriver() {
        return keysOfRdma > 0 ? driver : null;
    }

    private @Nullable WaitDriver rdmaDriver() {
        return keysOfRdma > 0 ? driver : otherDriver;
    }

    /**
     * Makes selecting threads drive sockets that are not registered with this selector, as in a wait for data.
     *
     * @param other makes progress while a thread waits for the sockets; null if there are none
     */
    public void driveAlso(@Nullable WaitDriver other) {
        otherDriver = other;
    }

    private void pollRdma() {
        RdmaSelectionKey key = changedKeys.getAndSet(null);
        while (key != null) {
            RdmaSelectionKey next = key.next;
            key.next = null;
            key.dequeued();
            // The key of a closed channel is about to be cancelled.
            if (key.isValid() && key.channel().isOpen() && key.channel() instanceof RdmaSelectable source) {
                pollKey(key, source);
            }
            key = next;
        }
        for (int i = 0; i < readyKeys.size(); i++) {
            readyKeys.get(i).enqueue(false);
        }
        try {
            for (int i = 0; i < readyKeys.size() && isOpen(); i++) {
                RdmaSelectionKey each = readyKeys.get(i);
                if (each.isValid()) {
                    deliver(each, each.pending);
                }
            }
        } finally {
            readyKeys.clear();
        }
    }

    private void pollKey(RdmaSelectionKey key, RdmaSelectable source) {
        int interest = key.interest();
        int ready;
        try {
            ready = source.readyOps(interest, false);
            if (ready == 0) {
                ready = source.readyOps(interest, true);
            }
            track(key, source);
        } catch (IOException | RuntimeException failed) {
            // The next operation on the channel reports the failure; the other keys must not be affected.
            logger().log(Level.DEBUG, () -> "Cannot watch " + key.channel() + ", so it is treated as ready", failed);
            ready = interest;
        }
        if (ready != 0) {
            key.pending = ready;
            readyKeys.add(key);
        }
    }

    /** Updates the registrations after the channel may have changed between RDMA and TCP. */
    private void track(RdmaSelectionKey key, RdmaSelectable source) throws IOException {
        SocketEndpoint endpoint = source.endpoint();
        count(key, endpoint != null, (key.interest() & ~SelectionKey.OP_ACCEPT) != 0);
        WaitDriver used = endpoint == null ? null : endpoint.waitDriver();
        driver = used == null ? driver : used;
        SelectableChannel platformChannel = source.platformChannel();
        SelectionKey inner = key.inner();
        if (platformChannel != null && (inner == null || !inner.channel().equals(platformChannel))) {
            try {
                SelectionKey created = platform().register(platformChannel, key.interest(), key);
                key.inner(created);
                created.interestOps(key.interest()); // it may have changed concurrently
                onOrdinaryChange();
            } catch (java.nio.channels.ClosedChannelException | CancelledKeyException closed) {
                return; // the key is about to be cancelled
            }
        }
    }

    /** Counts a key again after a change. */
    private void count(RdmaSelectionKey key, boolean isOfRdma, boolean isInterestedInData) {
        boolean isForData = isOfRdma && isInterestedInData;
        keysOfRdma += (isOfRdma ? 1 : 0) - (key.isOfRdma ? 1 : 0);
        keysForData += (isForData ? 1 : 0) - (key.isForData ? 1 : 0);
        key.isOfRdma = isOfRdma;
        key.isForData = isForData;
    }

    private void onOrdinaryReady(SelectionKey inner) {
        // A cancelled key also ends the selection: only the next one removes it, and this one would find it again.
        found = true;
        if (inner.attachment() instanceof RdmaSelectionKey key && key.isValid()) {
            int ready = inner.readyOps() & key.interest();
            if (ready != 0) {
                deliver(key, ready);
            }
        }
    }

    private void deliver(RdmaSelectionKey key, int ready) {
        found = true;
        Consumer<SelectionKey> each = action;
        if (each != null) {
            key.ready(ready);
            count++;
            each.accept(key);
            requireOpen(); // as Selector.select specifies for an action that closes the selector
        } else if (selected.select(key)) {
            key.ready(ready);
            count++;
        } else if ((ready & ~key.ready()) != 0) {
            key.ready(key.ready() | ready);
            count++;
        }
    }

    @Override
    public Selector wakeup() {
        woken = true;
        signal();
        return this;
    }

    // ---- end

    private void removeCancelled() throws IOException {
        boolean anyOrdinary = false;
        Set<SelectionKey> cancelled = cancelledKeys();
        synchronized (cancelled) {
            for (SelectionKey each : cancelled) {
                anyOrdinary |= removeKey((RdmaSelectionKey) each);
            }
            cancelled.clear();
        }
        PlatformChannels current = platform;
        if (anyOrdinary && current != null) {
            current.flush();
        }
    }

    /** Ends a registration. Returns whether a registration with the platform's selector must also end. */
    private boolean removeKey(RdmaSelectionKey key) {
        keys.remove(key);
        selected.remove(key);
        if (key.channel() instanceof RdmaSelectable source) {
            source.keys().remove(key);
        }
        count(key, false, false);
        deregister(key);
        SelectionKey inner = key.inner();
        if (inner != null) {
            inner.cancel();
        }
        return inner != null;
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            synchronized (selected) {
                for (RdmaSelectionKey key : List.copyOf(keys)) {
                    key.cancel();
                    removeKey(key);
                }
                selected.clear();
            }
            PlatformChannels current = platform;
            if (current != null) {
                current.close();
            }
        }
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(RdmaSelector.class.getName());
    }
}
