package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.RdmaDatagramSocket;
import io.rdma4j.tools.command.AddressFamilies;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A datagram RDMA socket. */
record RdmaDatagramTestSocket(RdmaDatagramSocket socket) implements DatagramTestSocket {
    /** Opens a socket. */
    static RdmaDatagramTestSocket open() {
        RdmaDatagramSocket socket = RdmaDatagramSocket.open();
        socket.configureBlocking(false);
        return new RdmaDatagramTestSocket(socket);
    }

    @Override
    public void setBuffers(int bytes) throws IOException {
        socket.setOption(StandardSocketOptions.SO_SNDBUF, bytes).setOption(StandardSocketOptions.SO_RCVBUF, bytes);
    }

    @Override
    public void bind(InetSocketAddress local) throws IOException {
        AddressFamilies.act(() -> socket.bind(local));
    }

    @Override
    public void connect(InetSocketAddress remote) throws IOException {
        AddressFamilies.act(() -> socket.connect(remote));
    }

    @Override
    public boolean send(ByteBuffer data) throws IOException {
        return socket.send(data);
    }

    @Override
    public boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException {
        return AddressFamilies.call(() -> socket.sendTo(data, remote));
    }

    @Override
    public @Nullable InetSocketAddress receive(ByteBuffer target) throws IOException {
        return socket.receiveFrom(target);
    }

    @Override
    public int await(int event, @Nullable Duration timeout) throws IOException {
        return socket.await(event, timeout);
    }

    @Override
    public void close() {
        socket.close();
    }
}
