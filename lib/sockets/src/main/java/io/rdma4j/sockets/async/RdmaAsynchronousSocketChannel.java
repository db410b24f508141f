package io.rdma4j.sockets.async;

import io.rdma4j.sockets.async.Operation.Handler;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ReadPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritePendingException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous channel over a non-blocking channel, which decides between RDMA and TCP. Thread safe, as specified by
 * {@link AsynchronousSocketChannel}.
 */
public final class RdmaAsynchronousSocketChannel extends AsynchronousSocketChannel implements Member {
    private final RdmaChannelGroup group;
    private final SocketChannel channel;
    private final Direction connecting =
            new Direction("Connecting not allowed due to cancellation", ConnectionPendingException::new);
    private final Direction reading =
            new Direction("Reading not allowed due to timeout or cancellation", ReadPendingException::new);
    private final Direction writing =
            new Direction("Writing not allowed due to timeout or cancellation", WritePendingException::new);
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private volatile boolean isInputShut;
    private volatile boolean isOutputShut;

    private RdmaAsynchronousSocketChannel(RdmaChannelGroup group, SocketChannel channel) {
        super(group.provider());
        this.group = group;
        this.channel = channel;
    }

    /** Opens a channel of a group that is not connected. */
    public static RdmaAsynchronousSocketChannel open(RdmaChannelGroup group) throws IOException {
        return of(group, group.channels().openSocketChannel());
    }

    /** Returns a channel of a group for an open channel, which is closed if that fails. */
    static RdmaAsynchronousSocketChannel of(RdmaChannelGroup group, SocketChannel channel) throws IOException {
        boolean isAdded = false;
        try {
            channel.configureBlocking(false);
            RdmaAsynchronousSocketChannel created = new RdmaAsynchronousSocketChannel(group, channel);
            group.add(created);
            isAdded = true;
            return created;
        } finally {
            if (!isAdded) {
                channel.close();
            }
        }
    }

    @Override
    public RdmaChannelGroup group() {
        return group;
    }

    @Override
    public SocketChannel channel() {
        return channel;
    }

    @Override
    public void onReady(int ops) {
        if ((ops & SelectionKey.OP_CONNECT) != 0) {
            advance(connecting, SelectionKey.OP_CONNECT);
        }
        if ((ops & SelectionKey.OP_READ) != 0) {
            advance(reading, SelectionKey.OP_READ);
        }
        if ((ops & SelectionKey.OP_WRITE) != 0) {
            advance(writing, SelectionKey.OP_WRITE);
        }
    }

    private void advance(Direction direction, int ops) {
        Operation<?> pending = direction.pending();
        if (pending != null && !pending.tryNow()) {
            group.await(this, ops);
        }
    }

    // ---- connecting

    @Override
    public Future<Void> connect(SocketAddress remote) {
        return connect(remote, null);
    }

    @Override
    public <A> void connect(SocketAddress remote, A attachment, CompletionHandler<Void, ? super A> handler) {
        var _ = connect(remote, Handler.of(handler, attachment));
    }

    private Future<Void> connect(SocketAddress remote, @Nullable Handler<Void> handler) {
        if (!isOpen()) {
            return failed(new ClosedChannelException(), handler);
        }
        connecting.check();
        return new Operation<>(this, connecting, started(remote), handler)
                .begin(SelectionKey.OP_CONNECT, 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Starts to connect. Throws exceptions only for a wrong address or state; the attempt reports all other failures.
     */
    private Operation.Attempt started(SocketAddress remote) {
        try {
            boolean isConnected = channel.connect(remote);
            return () -> isConnected || channel.finishConnect() ? null : Operation.NOT_YET;
        } catch (IOException refused) {
            return () -> {
                throw refused;
            };
        }
    }

    // ---- results without an operation

    private <V> Future<V> failed(Throwable why, @Nullable Handler<V> handler) {
        if (handler != null) {
            group.call(group.new Call(() -> handler.call(null, why)));
        }
        return CompletableFuture.failedFuture(why);
    }

    private <V> Future<V> completed(V value, @Nullable Handler<V> handler) {
        if (handler != null) {
            group.call(group.new Call(() -> handler.call(value, null)));
        }
        return CompletableFuture.completedFuture(value);
    }

    // ---- reading

    @Override
    public Future<Integer> read(ByteBuffer target) {
        return read(target, 0, TimeUnit.NANOSECONDS, null);
    }

    @Override
    public <A> void read(
            ByteBuffer target,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        var _ = read(target, timeout, unit, Handler.of(handler, attachment));
    }

    private Future<Integer> read(ByteBuffer target, long timeout, TimeUnit unit, @Nullable Handler<Integer> handler) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
        return read(target.hasRemaining(), -1, 0, () -> channel.read(target), timeout, unit, handler);
    }

    @Override
    public <A> void read(
            ByteBuffer[] targets,
            int offset,
            int length,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Long, ? super A> handler) {
        Handler<Long> called = Handler.of(handler, attachment);
        ByteBuffer[] buffers = part(targets, offset, length);
        if (Arrays.stream(buffers).anyMatch(ByteBuffer::isReadOnly)) {
            throw new IllegalArgumentException("Read-only buffer");
        }
        var _ = read(hasRemaining(buffers), -1L, 0L, () -> channel.read(buffers), timeout, unit, called);
    }

    private static ByteBuffer[] part(ByteBuffer[] buffers, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, buffers.length);
        return Arrays.copyOfRange(buffers, offset, offset + length);
    }

    private static boolean hasRemaining(ByteBuffer[] buffers) {
        return Arrays.stream(buffers).anyMatch(ByteBuffer::hasRemaining);
    }

    /** A call of the non-blocking channel that returns a number of bytes. */
    private interface Transfer<V extends Number> {
        V transfer() throws IOException;
    }

    private <V extends Number> Future<V> read(
            boolean hasRoom,
            V end,
            V zero,
            Transfer<V> call,
            long timeout,
            TimeUnit unit,
            @Nullable Handler<V> handler) {
        if (!isOpen()) {
            return failed(new ClosedChannelException(), handler);
        }
        requireConnected();
        reading.check();
        if (isInputShut || !hasRoom) {
            return completed(isInputShut ? end : zero, handler);
        }
        return new Operation<>(this, reading, repeated(call), handler).begin(SelectionKey.OP_READ, timeout, unit);
    }

    private static <V extends Number> Operation.Attempt repeated(Transfer<V> call) {
        return () -> {
            V count = call.transfer();
            return count.longValue() == 0 ? Operation.NOT_YET : count;
        };
    }

    private void requireConnected() {
        if (!channel.isConnected() && channel.isOpen()) {
            throw new NotYetConnectedException();
        }
    }

    // ---- writing

    @Override
    public Future<Integer> write(ByteBuffer source) {
        return write(source.hasRemaining(), 0, () -> channel.write(source), 0, TimeUnit.NANOSECONDS, null);
    }

    @Override
    public <A> void write(
            ByteBuffer source,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        Handler<Integer> called = Handler.of(handler, attachment);
        var _ = write(source.hasRemaining(), 0, () -> channel.write(source), timeout, unit, called);
    }

    @Override
    public <A> void write(
            ByteBuffer[] sources,
            int offset,
            int length,
            long timeout,
            TimeUnit unit,
            A attachment,
            CompletionHandler<Long, ? super A> handler) {
        Handler<Long> called = Handler.of(handler, attachment);
        ByteBuffer[] buffers = part(sources, offset, length);
        var _ = write(hasRemaining(buffers), 0L, () -> channel.write(buffers), timeout, unit, called);
    }

    private <V extends Number> Future<V> write(
            boolean hasData, V zero, Transfer<V> call, long timeout, TimeUnit unit, @Nullable Handler<V> handler) {
        if (isOpen()) {
            requireConnected();
            writing.check();
        }
        if (!isOpen() || isOutputShut) {
            return failed(new ClosedChannelException(), handler);
        }
        if (!hasData) {
            return completed(zero, handler);
        }
        return new Operation<>(this, writing, repeated(call), handler).begin(SelectionKey.OP_WRITE, timeout, unit);
    }

    // ---- addresses and options

    @Override
    public AsynchronousSocketChannel bind(@Nullable SocketAddress local) throws IOException {
        channel.bind(local);
        return this;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        return channel.getLocalAddress();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        return channel.getRemoteAddress();
    }

    @Override
    public <T> AsynchronousSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    // ---- end

    @Override
    public AsynchronousSocketChannel shutdownInput() throws IOException {
        channel.shutdownInput();
        isInputShut = true;
        return this;
    }

    @Override
    public AsynchronousSocketChannel shutdownOutput() throws IOException {
        channel.shutdownOutput();
        isOutputShut = true;
        return this;
    }

    @Override
    public boolean isOpen() {
        return !isClosed.get() && channel.isOpen();
    }

    @Override
    public void onCancel(Direction direction) {
        if (direction == connecting) {
            reading.kill();
            writing.kill();
        }
        direction.kill();
    }

    @Override
    public void closeIfFailed() {
        if (!channel.isOpen()) {
            close();
        }
    }

    @Override
    public void close() {
        if (isClosed.getAndSet(true)) {
            return;
        }
        try {
            channel.close();
        } catch (IOException _) {
            // The channel is closed anyway.
        }
        for (Direction direction : List.of(connecting, reading, writing)) {
            Operation<?> pending = direction.pending();
            if (pending != null) {
                pending.fail(new AsynchronousCloseException());
            }
        }
        group.remove(this);
    }

    @Override
    public String toString() {
        return "RdmaAsynchronousSocketChannel[" + channel + "]";
    }
}
