package io.rdma4j.tools.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;

/** A program that is unaware of RDMA: one asynchronous channel sends words to another, which echoes them. */
public final class AsynchronousEcho {
    private static final int MOST = 100;

    private AsynchronousEcho() {}

    /** Prints the echo of the arguments, and the number of TCP sockets with the server's port. */
    public static void main(String[] words) throws IOException, InterruptedException, ExecutionException {
        try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open();
                AsynchronousSocketChannel client = AsynchronousSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            server.accept(ByteBuffer.allocate(MOST), new Acceptor());
            InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
            client.connect(address).get();
            byte[] sent = String.join(" ", words).getBytes(StandardCharsets.UTF_8);
            client.write(ByteBuffer.wrap(sent)).get();
            ByteBuffer received = ByteBuffer.allocate(sent.length);
            while (received.hasRemaining() && client.read(received).get() >= 0) {
                // until all bytes have arrived
            }
            System.out.println(new String(received.array(), StandardCharsets.UTF_8));
            System.out.println("TCP sockets: " + TcpTable.sockets(address.getPort()));
        }
    }

    private static final class Acceptor implements CompletionHandler<AsynchronousSocketChannel, ByteBuffer> {
        @Override
        public void completed(AsynchronousSocketChannel connection, ByteBuffer bytes) {
            connection.read(bytes, connection, new Echo(bytes));
        }

        @Override
        public void failed(Throwable why, ByteBuffer bytes) {
            why.printStackTrace();
        }
    }

    private record Echo(ByteBuffer bytes) implements CompletionHandler<Integer, AsynchronousSocketChannel> {
        @Override
        public void completed(Integer count, AsynchronousSocketChannel connection) {
            if (count >= 0) {
                var _ = connection.write(bytes.flip());
            }
        }

        @Override
        public void failed(Throwable why, AsynchronousSocketChannel connection) {
            why.printStackTrace();
        }
    }
}
