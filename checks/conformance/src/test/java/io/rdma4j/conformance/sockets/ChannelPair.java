package io.rdma4j.conformance.sockets;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Two connected channels of this process, and their listener. */
final class ChannelPair implements AutoCloseable {
    /** A kind of channel. The tests also run with the platform's channels, which shows that they expect the behaviour of Java. */
    enum Kind {
        RDMA,
        TCP;

        SocketChannel open() throws IOException {
            return this == RDMA ? RdmaSockets.openSocketChannel(StandardProtocolFamily.INET) : SocketChannel.open();
        }

        /** Returns a listener at an address of the device under test. */
        ServerSocketChannel listen() throws IOException {
            ServerSocketChannel listener = this == RDMA
                    ? RdmaSockets.openServerSocketChannel(StandardProtocolFamily.INET)
                    : ServerSocketChannel.open();
            return listener.bind(new InetSocketAddress(TestDevices.freshAddress(), 0));
        }

        SocketChannel connect(ServerSocketChannel listener) throws IOException {
            SocketChannel client = open();
            client.connect(listener.getLocalAddress());
            return client;
        }

        Selector selector() throws IOException {
            return this == RDMA ? RdmaSockets.openSelector() : Selector.open();
        }
    }

    final ServerSocketChannel listener;
    final SocketChannel client;
    final SocketChannel server;

    ChannelPair(Kind kind) throws IOException {
        listener = kind.listen();
        client = kind.connect(listener);
        server = listener.accept();
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
        listener.close();
    }
}
