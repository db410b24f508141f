package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The timeouts of sockets over a stack in virtual time: each takes its time by the stack's clock, and none of the system's. */
@Timeout(20)
class VirtualTimeTest {
    private final TestNetwork network = TestNetwork.inVirtualTime(1);
    private final TestHost host = network.addHost("10.0.0.1");
    private final RdmaSocketFactory sockets = new RdmaSocketFactory(host.connectionManager());

    @AfterEach
    void close() throws Exception {
        sockets.close();
        network.close();
    }

    @Test
    void acceptOfASocket() throws IOException {
        try (ServerSocket listener = sockets.openServerSocket(StandardProtocolFamily.INET)) {
            listener.bind(new InetSocketAddress(host.address(), 7471));
            listener.setSoTimeout(3000);
            Duration before = network.time().elapsed();
            long real = System.nanoTime();
            assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(listener::accept);
            System.err.println("accept " + before + " "
                    + network.time().elapsed().minus(before) + " real " + Duration.ofNanos(System.nanoTime() - real));
        }
    }

    @Test
    void connectOfASocket() throws IOException {
        try (Socket socket = sockets.openSocket(StandardProtocolFamily.INET)) {
            Duration before = network.time().elapsed();
            long real = System.nanoTime();
            try {
                socket.connect(new InetSocketAddress("10.0.0.9", 7471), 3000);
            } catch (IOException e) {
                System.err.println(e);
            }
            System.err.println("connect " + before + " "
                    + network.time().elapsed().minus(before) + " real " + Duration.ofNanos(System.nanoTime() - real));
        }
    }

    @Test
    void receive() throws IOException {
        try (DatagramChannel channel = sockets.openDatagramChannel(StandardProtocolFamily.INET);
                DatagramSocket socket = channel.socket()) {
            socket.bind(new InetSocketAddress(host.address(), 7471));
            socket.setSoTimeout(3000);
            Duration before = network.time().elapsed();
            long real = System.nanoTime();
            try {
                socket.receive(new DatagramPacket(new byte[10], 10));
            } catch (IOException e) {
                System.err.println(e);
            }
            System.err.println("receive " + before + " "
                    + network.time().elapsed().minus(before) + " real " + Duration.ofNanos(System.nanoTime() - real));
        }
    }
}
