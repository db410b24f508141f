package io.rdma4j.link.memory;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.internal.FramedChannel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One end of a local channel of a {@link MemoryNetwork}. A different thread may use each end. */
final class MemoryChannel implements LocalChannel, MemoryLinkSet.Member {
    /** The maximum number of bytes in flight in one direction. Further messages are dropped, like with a full socket buffer. */
    private static final int CAPACITY_BYTES = 256 * 1024;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final MemoryLinkSet set;
    private final Queue<ByteBuffer> input = new ConcurrentLinkedQueue<>();
    private final AtomicInteger inputBytes = new AtomicInteger();
    private volatile @Nullable MemoryChannel peer;
    private volatile boolean closed;
    private volatile boolean endSeen;

    MemoryChannel(MemoryLinkSet set) {
        this.set = set;
    }

    private static void join(MemoryChannel one, MemoryChannel other) {
        one.peer = other;
        other.peer = one;
    }

    @Override
    public boolean send(ByteBuffer header, ByteBuffer body) {
        int bytes = FramedChannel.messageBytes(header, body);
        MemoryChannel receiver = peer;
        if (closed || receiver == null || receiver.inputBytes.get() + bytes > CAPACITY_BYTES) {
            return false;
        }
        deliver(receiver, header, body, bytes);
        return true;
    }

    /** The message may exceed the capacity, and therefore never waits here. */
    @Override
    public void sendControl(Object subject, ByteBuffer message) {
        int bytes = FramedChannel.messageBytes(message, EMPTY);
        MemoryChannel receiver = peer;
        if (!closed && receiver != null) {
            deliver(receiver, message, EMPTY, bytes);
        }
    }

    @Override
    public boolean hasUnsentControl() {
        return false;
    }

    private static void deliver(MemoryChannel receiver, ByteBuffer header, ByteBuffer body, int bytes) {
        ByteBuffer message = ByteBuffer.allocate(bytes);
        message.put(header.duplicate()).put(body.duplicate()).flip();
        receiver.inputBytes.addAndGet(bytes);
        receiver.input.add(message);
        receiver.set.inputArrived();
    }

    @Override
    public @Nullable ByteBuffer poll() {
        boolean ended = closed;
        ByteBuffer message = input.poll();
        if (message != null) {
            inputBytes.addAndGet(-message.remaining());
        } else if (ended) {
            endSeen = true;
        }
        return message;
    }

    @Override
    public boolean hasInput() {
        return !input.isEmpty() || closed && !endSeen;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        endSeen = true;
        input.clear();
        set.remove(this);
        MemoryChannel other = peer;
        if (other != null) {
            other.closed = true;
            other.set.inputArrived();
        }
    }

    /** A listener that other link sets of the network connect to. */
    static final class Listener implements LinkSet.LocalListener, MemoryLinkSet.Member {
        private final MemoryLinkSet set;
        private final Path path;
        private final ArrayDeque<MemoryChannel> connected = new ArrayDeque<>();
        private boolean closed;

        Listener(MemoryLinkSet set, Path path) {
            this.set = set;
            this.path = path;
        }

        Path path() {
            return path;
        }

        void connect(MemoryChannel from) {
            MemoryChannel accepted = new MemoryChannel(set);
            join(from, accepted);
            synchronized (this) {
                connected.add(accepted);
            }
            set.inputArrived();
        }

        @Override
        public synchronized boolean hasInput() {
            return !connected.isEmpty();
        }

        @Override
        public @Nullable LocalChannel accept() {
            MemoryChannel channel;
            synchronized (this) {
                channel = connected.poll();
            }
            if (channel != null) {
                set.adopt(channel);
            }
            return channel;
        }

        @Override
        public void close() {
            ArrayDeque<MemoryChannel> refused;
            synchronized (this) {
                if (closed) {
                    return;
                }
                closed = true;
                refused = new ArrayDeque<>(connected);
                connected.clear();
            }
            set.network().unlisten(this);
            set.remove(this);
            refused.forEach(MemoryChannel::close);
        }
    }
}
