package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.nio.Loopback;
import io.rdma4j.sockets.options.AddressRules;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;

/** Creates the sockets of a transport: sockets of the agent's factories, or sockets of the platform. */
interface DeferredSockets {
    Socket socket() throws IOException;

    ServerSocket serverSocket() throws IOException;

    /** Returns the sockets of the platform. */
    static DeferredSockets ofPlatform() {
        return new DeferredSockets() {
            @Override
            public Socket socket() {
                return new Socket();
            }

            @Override
            public ServerSocket serverSocket() throws IOException {
                return new ServerSocket();
            }
        };
    }

    /** Returns sockets that decide by rules. */
    static DeferredSockets by(String rules) {
        AddressRules parsed = AddressRules.parse(rules);
        return new DeferredSockets() {
            @Override
            public Socket socket() throws SocketException {
                return new Deferred(impl(false));
            }

            private DeferredSocketImpl impl(boolean listens) {
                return new DeferredSocketImpl(ConnectionService.ofProcess(), parsed, listens);
            }

            @Override
            public ServerSocket serverSocket() {
                return new DeferredServer(impl(true), this);
            }
        };
    }

    final class Deferred extends Socket {
        private Deferred(DeferredSocketImpl impl) throws SocketException {
            super(impl);
        }
    }

    /** Accepts sockets like {@link ServerSocket} with installed factories. */
    final class DeferredServer extends ServerSocket {
        private final DeferredSockets sockets;

        private DeferredServer(DeferredSocketImpl impl, DeferredSockets sockets) {
            super(impl);
            this.sockets = sockets;
        }

        @Override
        public Socket accept() throws IOException {
            if (isClosed()) {
                throw new SocketException("Socket is closed");
            }
            if (!isBound()) {
                throw new SocketException("Socket is not bound yet");
            }
            Socket accepted = sockets.socket();
            implAccept(accepted);
            return accepted;
        }
    }

    /** Two connected sockets and their listener, on a separate loopback address. */
    final class Pair implements Closeable {
        final DeferredSockets sockets;
        final InetAddress address = Loopback.address();
        final ServerSocket listener;
        final Socket client;
        final Socket server;

        Pair(DeferredSockets sockets) throws IOException {
            this.sockets = sockets;
            listener = sockets.serverSocket();
            listener.bind(new InetSocketAddress(address, 0));
            client = sockets.socket();
            client.connect(listener.getLocalSocketAddress());
            server = listener.accept();
        }

        @Override
        public void close() throws IOException {
            client.close();
            server.close();
            listener.close();
        }
    }
}
