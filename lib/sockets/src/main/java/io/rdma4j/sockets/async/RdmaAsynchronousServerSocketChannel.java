package io.rdma4j.sockets.async;

import io.rdma4j.sockets.async.Operation.Handler;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous channel that listens over RDMA, over TCP or over both. It uses a non-blocking channel. Thread safe,
 * as specified by {@link AsynchronousServerSocketChannel}.
 */
public final class RdmaAsynchronousServerSocketChannel extends AsynchronousServerSocketChannel implements Member {
    private final RdmaChannelGroup group;
    private final ServerSocketChannel channel;
    private final Direction accepting =
            new Direction("Accept not allowed due cancellation", AcceptPendingException::new);
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private RdmaAsynchronousServerSocketChannel(RdmaChannelGroup group, ServerSocketChannel channel) {
        super(group.provider());
        this.group = group;
        this.channel = channel;
    }

    /** Opens a channel of a group that is not bound. */
    public static RdmaAsynchronousServerSocketChannel open(RdmaChannelGroup group) throws IOException {
        ServerSocketChannel channel = group.channels().openServerSocketChannel();
        boolean isAdded = false;
        try {
            channel.configureBlocking(false);
            RdmaAsynchronousServerSocketChannel created = new RdmaAsynchronousServerSocketChannel(group, channel);
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
    public ServerSocketChannel channel() {
        return channel;
    }

    @Override
    public void onReady(int ops) {
        Operation<?> pending = accepting.pending();
        if (pending != null && !pending.tryNow()) {
            group.await(this, SelectionKey.OP_ACCEPT);
        }
    }

    // ---- accepting

    @Override
    public Future<AsynchronousSocketChannel> accept() {
        return accept((@Nullable Handler<AsynchronousSocketChannel>) null);
    }

    @Override
    public <A> void accept(A attachment, CompletionHandler<AsynchronousSocketChannel, ? super A> handler) {
        var _ = accept(Handler.of(handler, attachment));
    }

    private Future<AsynchronousSocketChannel> accept(@Nullable Handler<AsynchronousSocketChannel> handler) {
        if (!isOpen()) {
            ClosedChannelException why = new ClosedChannelException();
            if (handler != null) {
                group.call(group.new Call(() -> handler.call(null, why)));
            }
            return CompletableFuture.failedFuture(why);
        }
        if (channel.socket().getLocalSocketAddress() == null) {
            throw new NotYetBoundException();
        }
        return new Operation<>(this, accepting, this::acceptNow, handler)
                .begin(SelectionKey.OP_ACCEPT, 0, TimeUnit.NANOSECONDS);
    }

    private Object acceptNow() throws IOException {
        SocketChannel accepted = channel.accept();
        return accepted == null ? Operation.NOT_YET : RdmaAsynchronousSocketChannel.of(group, accepted);
    }

    // ---- addresses and options

    @Override
    public AsynchronousServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
        channel.bind(local, backlog);
        return this;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        return channel.getLocalAddress();
    }

    @Override
    public <T> AsynchronousServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
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
    public boolean isOpen() {
        return !isClosed.get();
    }

    @Override
    public void onCancel(Direction direction) {
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
        Operation<?> pending = accepting.pending();
        if (pending != null) {
            pending.fail(new AsynchronousCloseException());
        }
        group.remove(this);
    }

    @Override
    public String toString() {
        return "RdmaAsynchronousServerSocketChannel[" + channel + "]";
    }
}
