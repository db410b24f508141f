package io.rdma4j.sockets.nio;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

/** Two connected channels of a provider and their listener, on a separate loopback address. */
public final class Loopback implements Closeable {
    final ServerSocketChannel listener;
    final SocketChannel client;
    final SocketChannel server;

    Loopback(SelectorProvider provider) throws IOException {
        this(provider, address());
    }

    Loopback(SelectorProvider provider, InetAddress address) throws IOException {
        listener = provider.openServerSocketChannel(StandardProtocolFamily.INET);
        listener.bind(new InetSocketAddress(address, 0));
        client = provider.openSocketChannel(StandardProtocolFamily.INET);
        client.connect(Objects.requireNonNull(listener.getLocalAddress()));
        server = Objects.requireNonNull(listener.accept());
    }

    /** Returns an address of the loopback network that no other test uses. */
    public static InetAddress address() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.getByAddress(new byte[] {
            127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        });
    }

    /** Returns a selector with both connected channels, in non-blocking mode. */
    Selector selector(int clientOps, int serverOps) throws IOException {
        Selector selector = client.provider().openSelector();
        client.configureBlocking(false).register(selector, clientOps);
        server.configureBlocking(false).register(selector, serverOps);
        return selector;
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
        listener.close();
    }
}
