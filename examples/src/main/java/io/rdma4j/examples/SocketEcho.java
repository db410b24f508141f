package io.rdma4j.examples;

import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;

/** An echo server over RDMA sockets, which differs from a TCP server only in how it opens channels. */
public final class SocketEcho {
    private SocketEcho() {}

    /** Runs the server in a thread, and a client that sends one line. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Selector selector = RdmaSockets.openSelector();
                ServerSocketChannel listener = RdmaSockets.openServerSocketChannel(StandardProtocolFamily.INET)) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
            Thread server = Thread.ofPlatform().start(() -> serve(selector));
            try (SocketChannel client = RdmaSockets.openSocketChannel(StandardProtocolFamily.INET)) {
                client.connect(address);
                client.write(ByteBuffer.wrap("hello over RDMA".getBytes(StandardCharsets.UTF_8)));
                client.shutdownOutput();
                ByteBuffer echo = ByteBuffer.allocate(64);
                while (client.read(echo) >= 0) {
                    // until the server has closed
                }
                System.out.println("client: " + StandardCharsets.UTF_8.decode(echo.flip()));
            }
            server.join();
        }
    }

    // tag::serve[]
    private static void serve(Selector selector) {
        try {
            boolean served = false;
            while (!served) {
                selector.select();
                for (Iterator<SelectionKey> ready = selector.selectedKeys().iterator(); ready.hasNext(); ) {
                    SelectionKey key = ready.next();
                    ready.remove();
                    if (key.channel() instanceof ServerSocketChannel listener) {
                        SocketChannel accepted = listener.accept();
                        accepted.configureBlocking(false).register(selector, SelectionKey.OP_READ);
                    } else if (key.channel() instanceof SocketChannel channel) {
                        served = echo(channel);
                    }
                }
            }
            System.out.println("server: done");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
    // end::serve[]

    /** Returns whether the client has closed its output. */
    private static boolean echo(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(64);
        int count = channel.read(buffer);
        buffer.flip();
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
        if (count < 0) {
            channel.close();
        }
        return count < 0;
    }
}
