package io.rdma4j.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class TcpConnectionsTest {
    private static int ofThisProcess() throws IOException {
        return TcpConnections.of(ProcessHandle.current().pid());
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
    void connectionsOfOtherProcessesDoNotCount() throws IOException, InterruptedException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket _ = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
            Process other = new ProcessBuilder("sleep", "30").start();
            try {
                assertThat(TcpConnections.of(other.pid())).isZero();
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
    }
}
