package io.rdma4j.sockets.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.nio.ChannelPrograms;
import io.rdma4j.sockets.nio.Loopback;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The transport of deferred sockets depends on the rules and on the listener. */
@Timeout(60)
class DeferredSocketTest {
    private static final DeferredSockets RDMA = DeferredSockets.by("*=rdma");
    private static final DeferredSockets EITHER = DeferredSockets.by("*=either");
    private static final DeferredSockets PLATFORM = DeferredSockets.ofPlatform();

    /** Only TCP has urgent data. */
    private static boolean isOverTcp(Socket socket) throws IOException {
        try {
            socket.sendUrgentData(1);
            return true;
        } catch (SocketException refused) {
            assertThat(refused).hasMessageStartingWith("Urgent data not supported");
            return false;
        }
    }

    private static ServerSocket listener(DeferredSockets sockets) throws IOException {
        ServerSocket listener = sockets.serverSocket();
        listener.bind(new InetSocketAddress(Loopback.address(), 0));
        return listener;
    }

    private static boolean connectsOverTcp(DeferredSockets from, DeferredSockets to) throws IOException {
        try (ServerSocket listener = listener(to);
                Socket client = from.socket()) {
            client.connect(listener.getLocalSocketAddress(), 20_000);
            try (Socket server = listener.accept()) {
                server.getOutputStream().write(5);
                assertThat(client.getInputStream().read()).isEqualTo(5);
                return isOverTcp(client);
            }
        }
    }

    @Test
    void rulesAndThePeerSelectTheTransport() throws IOException {
        assertThat(connectsOverTcp(RDMA, RDMA)).isFalse();
        assertThat(connectsOverTcp(EITHER, EITHER)).isFalse();
        assertThat(connectsOverTcp(RDMA, EITHER)).isFalse();
        assertThat(connectsOverTcp(PLATFORM, EITHER)).isTrue();
        assertThat(connectsOverTcp(EITHER, PLATFORM)).isTrue();
        assertThat(connectsOverTcp(DeferredSockets.by("127.0.0.0/8=tcp"), PLATFORM))
                .isTrue();
    }

    @Test
    void listenerOverRdmaOnlyIsNotReachedOverTcp() throws IOException {
        try (ServerSocket listener = listener(RDMA);
                Socket client = PLATFORM.socket()) {
            assertThatThrownBy(() -> client.connect(listener.getLocalSocketAddress()))
                    .hasMessageContaining("refused");
        }
    }

    /** The failure over TCP is thrown, since TCP was tried last. The failure over RDMA explains why TCP was tried. */
    @Test
    void failureOverBothReportsBoth() throws IOException {
        try (ServerSocket unrelated = listener(RDMA); // so that RDMA refuses immediately
                Socket client = EITHER.socket()) {
            InetSocketAddress nobody = new InetSocketAddress(unrelated.getInetAddress(), 9);
            assertThatThrownBy(() -> client.connect(nobody))
                    .hasMessage("Connection refused")
                    .satisfies(failed -> assertThat(failed.getSuppressed()).hasSize(1));
        }
    }

    @Test
    void connectionThatArrivesAfterATimeoutIsKept() throws IOException {
        try (ServerSocket listener = listener(EITHER)) {
            listener.setSoTimeout(20);
            assertThatThrownBy(listener::accept)
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessage("Accept timed out");
            try (Socket client = PLATFORM.socket();
                    Socket another = RDMA.socket()) {
                client.connect(listener.getLocalSocketAddress());
                another.connect(listener.getLocalSocketAddress());
                listener.setSoTimeout(20_000);
                try (Socket first = listener.accept();
                        Socket second = listener.accept()) {
                    assertThat(isOverTcp(first)).isNotEqualTo(isOverTcp(second));
                }
            }
        }
    }

    /** The thread that waits for a connection over TCP has left the port when close returns. */
    @Test
    void portOfAClosedListenerIsFree() throws IOException {
        SocketAddress at = new InetSocketAddress(Loopback.address(), 0);
        for (int i = 0; i < 100; i++) {
            try (ServerSocket listener = EITHER.serverSocket()) {
                listener.bind(at);
                listener.setSoTimeout(1);
                assertThatThrownBy(listener::accept).isInstanceOf(SocketTimeoutException.class);
                at = listener.getLocalSocketAddress();
            }
        }
    }

    @Test
    void closingTheListenerClosesAConnectionThatWasNotAccepted() throws IOException {
        try (Socket client = PLATFORM.socket()) {
            try (ServerSocket listener = listener(EITHER)) {
                listener.setSoTimeout(20);
                assertThatThrownBy(listener::accept).isInstanceOf(SocketTimeoutException.class);
                client.connect(listener.getLocalSocketAddress());
            }
            client.setSoTimeout(20_000);
            assertThatThrownBy(() -> {
                        if (client.getInputStream().read() < 0) {
                            throw new SocketException("end");
                        }
                    })
                    .isInstanceOf(SocketException.class);
        }
    }

    @Test
    void closeEndsAnAttemptOverRdma() throws Exception {
        Socket client = DeferredSockets.by("*=rdma").socket();
        // No host of this network exists, so RDMA waits for a reply.
        InetAddress silent = InetAddress.ofLiteral("192.0.2.1");
        FutureTask<Boolean> attempt = ChannelPrograms.start(() -> {
            client.connect(new InetSocketAddress(silent, 7));
            return true;
        });
        client.close();
        assertThatThrownBy(() -> ChannelPrograms.get(attempt)).isInstanceOf(IOException.class);
        assertThat(client.isClosed()).isTrue();
    }

    @Test
    void portInUseOverTcpOnlyIsInUseForBoth() throws IOException {
        try (ServerSocket taken = listener(PLATFORM);
                ServerSocket both = EITHER.serverSocket();
                ServerSocket rdma = RDMA.serverSocket()) {
            assertThatThrownBy(() -> both.bind(taken.getLocalSocketAddress())).isInstanceOf(BindException.class);
            rdma.bind(taken.getLocalSocketAddress());
            assertThat(rdma.getLocalPort()).isEqualTo(taken.getLocalPort());
        }
    }

    @Test
    void serverListensOverTcpOnlyIfAnotherProgramHasTheRdmaPort() throws IOException {
        InetAddress here = Loopback.address();
        try (DatagramSocket taken = new DatagramSocket(new InetSocketAddress(here, 4791))) {
            assertThat(taken.isBound()).isTrue();
            SocketAddress free = listensOverTcp(new InetSocketAddress(here, 0));
            assertThat(listensOverTcp(free)).isEqualTo(free);
        }
    }

    /** Returns the address of a server that a client has reached over TCP. */
    private static SocketAddress listensOverTcp(SocketAddress at) throws IOException {
        try (ServerSocket server = EITHER.serverSocket();
                Socket client = PLATFORM.socket()) {
            server.bind(at);
            client.connect(server.getLocalSocketAddress());
            return server.getLocalSocketAddress();
        }
    }

    @Test
    void socksProxyOfTheSystemPropertiesIsUsedUnlessARuleSelectsRdma() throws Exception {
        try (ServerSocket proxy = listener(PLATFORM);
                ServerSocket server = listener(EITHER);
                Socket direct = RDMA.socket();
                Socket client = EITHER.socket()) {
            System.setProperty("socksProxyHost", proxy.getInetAddress().getHostAddress());
            System.setProperty("socksProxyPort", String.valueOf(proxy.getLocalPort()));
            System.setProperty("socksNonProxyHosts", ""); // by default no proxy is used for this host
            FutureTask<Boolean> attempt = ChannelPrograms.start(() -> {
                client.connect(server.getLocalSocketAddress());
                return true;
            });
            try (Socket asked = proxy.accept()) {
                assertThat(asked.getInputStream().read()).isEqualTo(5); // the version of SOCKS
                direct.connect(server.getLocalSocketAddress());
                assertThat(direct.isConnected()).isTrue();
            } finally {
                System.clearProperty("socksProxyHost");
                System.clearProperty("socksProxyPort");
                System.clearProperty("socksNonProxyHosts");
            }
            assertThatThrownBy(() -> ChannelPrograms.get(attempt)).isInstanceOf(IOException.class);
        }
    }

    /** The program's log reports once for each reason that a connection uses TCP. */
    @Test
    void firstConnectionOverTcpIsLogged() throws IOException {
        List<LogRecord> records = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                records.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.rdma4j.sockets");
        logger.setLevel(Level.FINE);
        logger.addHandler(handler);
        try {
            for (int i = 0; i < 2; i++) {
                connectsOverTcp(DeferredSockets.by("*=tcp"), PLATFORM);
                connectsOverTcp(EITHER, PLATFORM);
            }
        } finally {
            logger.removeHandler(handler);
            logger.setLevel(null);
        }
        assertThat(records.stream().map(LogRecord::getMessage))
                .anyMatch(message -> message.contains("over TCP, according to"))
                .anyMatch(message -> message.contains("since RDMA failed"));
        assertThat(records.stream()
                        .filter(record -> record.getMessage().contains("over TCP, according to"))
                        .skip(1)
                        .map(LogRecord::getLevel))
                .containsOnly(Level.FINE);
    }

    /** A failed bind leaves the socket usable. */
    @Test
    void listenerCanBindAgainAfterAFailure() throws IOException {
        try (ServerSocket taken = listener(PLATFORM);
                ServerSocket both = EITHER.serverSocket()) {
            assertThatThrownBy(() -> both.bind(taken.getLocalSocketAddress())).isInstanceOf(BindException.class);
            both.bind(new InetSocketAddress(taken.getInetAddress(), 0));
            assertThat(both.isBound()).isTrue();
        }
    }

    @Test
    void otherSocketsCannotBeAccepted() throws IOException {
        try (ServerSocket listener = new Mismatched()) {
            listener.bind(null);
            assertThatThrownBy(listener::accept).isInstanceOf(IOException.class).hasMessageContaining("cannot accept");
        }
    }

    /** A server socket that accepts with a socket of another kind. */
    private static final class Mismatched extends ServerSocket {
        Mismatched() {
            super(new DeferredSocketImpl(ConnectionService.ofProcess(), AddressRules.RDMA_ONLY, true));
        }

        @Override
        public Socket accept() throws IOException {
            Socket other = new RdmaSocket(ConnectionService.ofProcess(), SocketFamily.IPV6);
            implAccept(other);
            return other;
        }
    }
}
