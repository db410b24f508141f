package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.tools.command.AddressFamilies;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A TCP socket: a listener or a connection. */
final class TcpTestSocket implements TestSocket {
    private final @Nullable ServerSocketChannel listener;
    private final @Nullable SocketChannel stream;
    private final Map<SocketOption<?>, Object> listenerOptions = new HashMap<>();
    private @Nullable InetSocketAddress local;
    private @Nullable Selector selector;

    private TcpTestSocket(@Nullable ServerSocketChannel listener, @Nullable SocketChannel stream) {
        this.listener = listener;
        this.stream = stream;
    }

    /** Opens a socket that can listen. */
    static TcpTestSocket listening(ProtocolFamily family) throws IOException {
        return new TcpTestSocket(AddressFamilies.call(() -> ServerSocketChannel.open(family)), null);
    }

    /** Opens a socket that can connect. */
    static TcpTestSocket connecting(ProtocolFamily family) throws IOException {
        return new TcpTestSocket(null, AddressFamilies.call(() -> SocketChannel.open(family)));
    }

    /** Wraps an established connection. */
    static TcpTestSocket of(SocketChannel connected) {
        return new TcpTestSocket(null, connected);
    }

    /** Starts a process of the tool that serves this connection, see {@link ProcessPerConnection}. */
    ToolProcess serveBy(List<String> words, StreamRun.Phase phase, Consumer<String> onOutput, Consumer<String> onError)
            throws IOException {
        return ProcessPerConnection.start(words, stream(), phase, onOutput, onError);
    }

    private SelectableChannel channel() {
        return stream != null ? stream : listener();
    }

    private ServerSocketChannel listener() {
        if (listener == null) {
            throw new IllegalStateException("the socket is not a listener");
        }
        return listener;
    }

    private SocketChannel stream() {
        if (stream == null) {
            throw new IllegalStateException("the socket is a listener");
        }
        return stream;
    }

    @Override
    public void configureBlocking(boolean blocking) throws IOException {
        if (blocking && selector != null) {
            selector.close();
            selector = null;
        }
        channel().configureBlocking(blocking);
    }

    /**
     * Sets an option. Java's listeners support few options. The options of a listener are therefore also recorded for
     * {@link #option}.
     */
    @Override
    public <T> void setOption(SocketOption<T> option, T value) throws IOException {
        if (stream != null) {
            stream.setOption(option, value);
            return;
        }
        listenerOptions.put(option, value);
        NetworkChannel channel = listener();
        if (channel.supportedOptions().contains(option)) {
            channel.setOption(option, value);
        }
    }

    @Override
    public <T> T option(SocketOption<T> option) throws IOException {
        if (stream != null) {
            return stream.getOption(option);
        }
        return option.type().cast(Objects.requireNonNull(listenerOptions.get(option), "an option that was set"));
    }

    @Override
    public void bind(InetSocketAddress address) throws IOException {
        SocketChannel connection = stream;
        if (connection != null) {
            AddressFamilies.act(() -> connection.bind(address));
        }
        local = address; // Java binds a listener when it starts to listen
    }

    @Override
    public void listen(int backlog) throws IOException {
        AddressFamilies.act(() -> listener().bind(local, backlog));
    }

    @Override
    public @Nullable TestSocket accept() throws IOException {
        SocketChannel next = listener().accept();
        return next == null ? null : of(next);
    }

    @Override
    public boolean connect(InetSocketAddress remote) throws IOException {
        return AddressFamilies.call(() -> stream().connect(remote));
    }

    @Override
    public boolean finishConnect() throws IOException {
        return stream().finishConnect();
    }

    /** Waits for events. A blocking channel cannot be selected, so the following call waits instead. */
    @Override
    public int await(int events, @Nullable Duration timeout) throws IOException {
        SelectableChannel channel = channel();
        if (channel.isBlocking()) {
            return events;
        }
        if (selector == null) {
            selector = Selector.open();
        }
        Selector current = selector;
        SelectionKey key = channel.keyFor(current);
        int operations = operations(events);
        if (key == null) {
            key = channel.register(current, operations);
        } else {
            key.interestOps(operations);
        }
        current.selectedKeys().clear();
        if (timeout == null) {
            current.select();
        } else if (timeout.isPositive()) {
            current.select(Math.max(1, timeout.toMillis()));
        } else {
            current.selectNow();
        }
        return key.isReadable() || key.isAcceptable() || key.isWritable() || key.isConnectable() ? events : 0;
    }

    private int operations(int events) {
        int operations = 0;
        if ((events & PollEvents.IN) != 0) {
            operations |= stream == null ? SelectionKey.OP_ACCEPT : SelectionKey.OP_READ;
        }
        if ((events & PollEvents.OUT) != 0) {
            operations |= stream().isConnected() ? SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT;
        }
        return operations;
    }

    @Override
    public int receive(ByteBuffer target, Set<MessageFlag> flags) throws IOException {
        int start = target.position();
        int count = stream().read(target);
        while (count > 0 && target.hasRemaining() && flags.contains(MessageFlag.WAIT_ALL)) {
            count = stream().read(target);
        }
        return target.position() > start ? target.position() - start : count;
    }

    @Override
    public int send(ByteBuffer source, Set<MessageFlag> flags) throws IOException {
        return stream().write(source);
    }

    @Override
    public void shutdown() throws IOException {
        stream().shutdownInput();
        stream().shutdownOutput();
    }

    @Override
    public void close() throws IOException {
        if (selector != null) {
            selector.close();
        }
        channel().close();
    }
}
