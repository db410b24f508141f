package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.RdmaStreamSocket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A stream RDMA socket. */
record RdmaTestSocket(RdmaStreamSocket socket) implements TestSocket {
    @Override
    public void configureBlocking(boolean blocking) {
        socket.configureBlocking(blocking);
    }

    @Override
    public <T> void setOption(SocketOption<T> option, T value) throws IOException {
        socket.setOption(option, value);
    }

    @Override
    public <T> T option(SocketOption<T> option) {
        return socket.option(option);
    }

    @Override
    public void bind(InetSocketAddress local) throws IOException {
        socket.bind(local);
    }

    @Override
    public void listen(int backlog) throws IOException {
        socket.listen(backlog);
    }

    @Override
    public @Nullable TestSocket accept() throws IOException {
        RdmaStreamSocket next = socket.accept();
        return next == null ? null : new RdmaTestSocket(next);
    }

    @Override
    public boolean connect(InetSocketAddress remote) throws IOException {
        return socket.connect(remote);
    }

    @Override
    public boolean finishConnect() throws IOException {
        return socket.finishConnect();
    }

    @Override
    public int await(int events, @Nullable Duration timeout) throws IOException {
        return socket.await(events, timeout);
    }

    @Override
    public int receive(ByteBuffer target, Set<MessageFlag> flags) throws IOException {
        return socket.receive(target, flags);
    }

    @Override
    public int send(ByteBuffer source, Set<MessageFlag> flags) throws IOException {
        return socket.send(source, flags);
    }

    @Override
    public void shutdown() throws IOException {
        socket.shutdownInput();
        socket.shutdownOutput();
    }

    @Override
    public void close() {
        socket.close();
    }
}
