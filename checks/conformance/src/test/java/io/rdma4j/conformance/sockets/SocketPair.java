package io.rdma4j.conformance.sockets;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;

/** Two connected RDMA sockets of this process, and their listener. */
final class SocketPair implements AutoCloseable {
    private static final int BACKLOG = 50;
    private static final int SMALL_QUEUE = 16;
    private static final int SMALL_BUFFER = 4096;

    final ServerSocket listener;
    final Socket client;
    final Socket server;

    private SocketPair(ServerSocket listener, Socket client, Socket server) {
        this.listener = listener;
        this.client = client;
        this.server = server;
    }

    /** Returns a pair at an address of the device under test. */
    static SocketPair open() throws IOException {
        return open(TestDevices.freshAddress());
    }

    static SocketPair open(InetAddress address) throws IOException {
        ServerSocket listener = listen(address, BACKLOG);
        Socket client = connect(listener);
        return new SocketPair(listener, client, listener.accept());
    }

    static ServerSocket listen(InetAddress address, int backlog) throws IOException {
        ServerSocket listener = RdmaSockets.openServerSocket(StandardProtocolFamily.INET6);
        listener.bind(new InetSocketAddress(address, 0), backlog);
        return listener;
    }

    static Socket connect(ServerSocket listener) throws IOException {
        Socket client = RdmaSockets.openSocket(StandardProtocolFamily.INET6);
        client.connect(listener.getLocalSocketAddress());
        return client;
    }

    /** Sets small buffers, for tests with thousands of sockets; accepted sockets inherit those of their listener. */
    static void small(Socket socket) throws IOException {
        socket.setOption(RdmaSocketOptions.RDMA_SQSIZE, SMALL_QUEUE);
        socket.setOption(RdmaSocketOptions.RDMA_RQSIZE, SMALL_QUEUE);
        socket.setSendBufferSize(SMALL_BUFFER);
        socket.setReceiveBufferSize(SMALL_BUFFER);
    }

    static void small(ServerSocket socket) throws IOException {
        socket.setOption(RdmaSocketOptions.RDMA_SQSIZE, SMALL_QUEUE);
        socket.setOption(RdmaSocketOptions.RDMA_RQSIZE, SMALL_QUEUE);
        socket.setReceiveBufferSize(SMALL_BUFFER);
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
        listener.close();
    }
}
