package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;

/**
 * A process in which the first socket finds no interface that is up, or a device that does not start. It prints the
 * result of each attempt to connect. The argument selects the case: {@code interface}, in a separate network namespace,
 * or {@code device}.
 */
public final class FirstSocketProcess {
    private static final int NOBODYS_PORT = 9;

    private FirstSocketProcess() {}

    /** Runs the process. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        if (arguments[0].equals("interface")) {
            System.out.println("first " + connect(new InetSocketAddress(loopback, NOBODYS_PORT)));
            System.out.println("second " + connect(new InetSocketAddress(loopback, NOBODYS_PORT)));
            int status = new ProcessBuilder("ip", "link", "set", "lo", "up")
                    .inheritIO()
                    .start()
                    .waitFor();
            System.out.println("up " + status);
            System.out.println("then " + connect(new InetSocketAddress(loopback, NOBODYS_PORT)));
        } else {
            try (ServerSocket server = new ServerSocket(0, 1, loopback)) {
                InetSocketAddress address = new InetSocketAddress(loopback, server.getLocalPort());
                System.out.println("first " + connect(address));
                System.out.println("second " + connect(address));
            }
        }
    }

    private static String connect(InetSocketAddress address) {
        try (SocketChannel channel = new RdmaSelectorProvider().openSocketChannel(StandardProtocolFamily.INET)) {
            return channel.connect(address) ? "connected" : "pending";
        } catch (IOException e) {
            return "IOException " + e;
        } catch (Throwable unexpected) {
            return "unexpected " + unexpected;
        }
    }
}
