package io.rdma4j.examples;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;

/** A server over RDMA and one over TCP, and a client that reaches both with the same code. */
public final class SocketRules {
    // tag::rules[]
    private static final SelectorProvider RDMA_OR_TCP =
            new RdmaSelectorProvider(AddressRules.parse("127.0.0.0/8=either,*=tcp"));
    // end::rules[]

    private SocketRules() {}

    /** Runs both servers, each in a thread, and the client. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        for (SelectorProvider server :
                new SelectorProvider[] {new RdmaSelectorProvider(), SelectorProvider.provider()}) {
            try (ServerSocketChannel listener = server.openServerSocketChannel()) {
                listener.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
                Thread thread = Thread.ofPlatform().start(() -> greet(listener));
                System.out.println("client: " + read((InetSocketAddress) listener.getLocalAddress())
                        + listener.getClass().getSimpleName());
                thread.join();
            }
        }
    }

    private static void greet(ServerSocketChannel listener) {
        try (SocketChannel channel = listener.accept()) {
            channel.write(StandardCharsets.UTF_8.encode("hello from "));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // tag::client[]
    private static String read(InetSocketAddress server) throws IOException {
        try (SocketChannel channel = RDMA_OR_TCP.openSocketChannel()) {
            channel.connect(server); // over RDMA if an RDMA socket listens there, otherwise over TCP
            ByteBuffer greeting = ByteBuffer.allocate(64);
            while (channel.read(greeting) >= 0) {
                // until the server has closed
            }
            return StandardCharsets.UTF_8.decode(greeting.flip()).toString();
        }
    }
    // end::client[]
}
