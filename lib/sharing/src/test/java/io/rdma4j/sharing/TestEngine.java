package io.rdma4j.sharing;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.link.decorator.LinkOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** An engine for tests of ports, which counts frames. After a port is opened, a thread receives continuously. */
final class TestEngine implements PortEngine, FrameReceiver, AutoCloseable {
    private static final long PAUSE_NANOS = 100_000;

    /** A deadline, which is checked in each round. */
    private static final class Deadline implements Timer {
        private final LongConsumer task;
        private long nanos = Long.MAX_VALUE;

        Deadline(LongConsumer task) {
            this.task = task;
        }

        @Override
        public void set(long deadlineNanos) {
            nanos = deadlineNanos;
        }

        void runIfDue(long now) {
            if (nanos != Long.MAX_VALUE && now - nanos >= 0) {
                nanos = Long.MAX_VALUE;
                task.accept(now);
            }
        }
    }

    /** Frames that have arrived. */
    volatile long receivedFrames;

    /** Received frames that have no bytes. */
    volatile long emptyFrames;

    private final ReentrantLock lock = new ReentrantLock();
    private final LinkSet links;
    private final LinkDecorator decorator;
    private final List<Deadline> deadlines = new ArrayList<>();
    private final List<HostPort> ports = new CopyOnWriteArrayList<>();
    private volatile boolean closed;
    private long now = System.nanoTime();

    TestEngine(LinkSet links) {
        this.links = links;
        try {
            decorator = new LinkDecorator(LinkOptions.NONE, System::nanoTime, () -> 0, _ -> {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens a port, and returns when it is connected. */
    HostPort open(Sharing sharing, InetAddress address) throws Exception {
        lock();
        HostPort port = new HostPort(this, sharing, address);
        unlock();
        String refusal = tryOpen(port);
        while (refusal != null) {
            Thread.sleep(1);
            refusal = tryOpen(port);
        }
        ports.add(port);
        if (ports.size() == 1) {
            Thread.ofPlatform().daemon().start(this::run);
        }
        while (!port.isConnected()) {
            if (port.isRefused()) {
                throw port.refusal();
            }
            Thread.sleep(1);
        }
        return port;
    }

    private @Nullable String tryOpen(HostPort port) throws IOException {
        lock();
        try {
            return port.tryOpen(false);
        } finally {
            unlock();
        }
    }

    void lock() {
        lock.lock();
        now = System.nanoTime();
    }

    void unlock() {
        lock.unlock();
    }

    private void run() {
        while (!closed) {
            lock();
            try {
                for (HostPort port : ports) {
                    while (port.receive(now, true) > 0) {
                        now = System.nanoTime();
                    }
                    int _ = port.receiveStray(now);
                }
                List.copyOf(deadlines).forEach(each -> each.runIfDue(now));
            } finally {
                unlock();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    @Override
    public void close() {
        closed = true;
        lock();
        links.close();
        unlock();
    }

    // ---- what ports use

    @Override
    public long nowNanos() {
        return now;
    }

    @Override
    public Timer timer(LongConsumer task) {
        Deadline created = new Deadline(task);
        deadlines.add(created);
        return created;
    }

    @Override
    public LinkSet links() {
        return links;
    }

    @Override
    public LinkDecorator decorator() {
        return decorator;
    }

    @Override
    public FrameReceiver receiver() {
        return this;
    }

    @Override
    public void onFrames(long nowNanos, Port port, ReceiveBurst burst) {
        count(burst);
    }

    @Override
    public void onRelayedFrames(long nowNanos, Port port, ReceiveBurst burst) {
        count(burst);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under the lock
    private void count(ReceiveBurst burst) {
        receivedFrames += burst.count();
        for (int i = 0; i < burst.count(); i++) {
            emptyFrames += burst.frame(i).length == 0 ? 1 : 0;
        }
    }

    @Override
    public void receivePendingOfOthers() {}

    @Override
    public void onProgress() {}

    @Override
    public void onRole(HostPort port) {}
}
