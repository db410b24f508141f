package io.rdma4j.tools.programs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A program that is unaware of RDMA: one channel sends words to another, which echoes them. */
public final class ChannelEcho {
    private static final int MOST = 100;

    private ChannelEcho() {}

    /** Prints the echo of the arguments, and the number of TCP sockets with the server's port. */
    public static void main(String[] words) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Thread.ofVirtual().start(() -> echo(server));
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
                byte[] sent = String.join(" ", words).getBytes(StandardCharsets.UTF_8);
                client.write(ByteBuffer.wrap(sent));
                ByteBuffer received = ByteBuffer.allocate(sent.length);
                while (received.hasRemaining() && client.read(received) >= 0) {
                    // until all bytes have arrived
                }
                System.out.println(new String(received.array(), StandardCharsets.UTF_8));
                System.out.println(
                        "TCP sockets: " + TcpTable.sockets(server.socket().getLocalPort()));
            }
        }
    }

    private static void echo(ServerSocketChannel server) {
        try (SocketChannel connection = server.accept()) {
            ByteBuffer bytes = ByteBuffer.allocate(MOST);
            while (connection.read(bytes) >= 0) {
                connection.write(bytes.flip());
                bytes.clear();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
