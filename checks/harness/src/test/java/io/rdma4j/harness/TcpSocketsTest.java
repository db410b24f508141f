package io.rdma4j.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class TcpSocketsTest {
    private static int ofThisProcess() throws IOException {
        return TcpSockets.connectionsOf(ProcessHandle.current().pid());
    }

    @Test
    void bothEndsOfAConnectionCountAndAListenerDoesNot() throws IOException {
        int before = ofThisProcess();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(ofThisProcess()).isEqualTo(before);
            try (Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
                    Socket server = listener.accept()) {
                assertThat(client.isConnected() && server.isConnected()).isTrue();
                assertThat(ofThisProcess()).isEqualTo(before + 2);
            }
        }
    }

    @Test
    void aPortIsListenedOnWhileItsListenerIsOpen() throws IOException {
        int port;
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = listener.getLocalPort();
            assertThat(TcpSockets.isListening(port)).isTrue();
        }
        assertThat(TcpSockets.isListening(port)).isFalse();
    }

    @Test
    void connectionsOfOtherProcessesDoNotCount() throws IOException, InterruptedException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket _ = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
            Process other = new ProcessBuilder("sleep", "30").start();
            try {
                assertThat(TcpSockets.connectionsOf(other.pid())).isZero();
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
    }
}
