package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.HostAddresses;
import io.rdma4j.tools.command.ToolFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The TCP connection over which the two sides exchange the addresses of their queue pairs. The client sends its {@link
 * PingPongDestination}s as texts, the server replies with the same number of addresses, and the client sends {@code
 * done}.
 */
final class SideChannel {
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};
    private static final int TIMEOUT_MILLIS = 30_000;

    private final PingpongCalls calls;
    private final int port;

    /** The action that connects the server's queue pairs, which must be ready before the server sends its addresses. */
    interface Connect {
        void to(List<PingPongDestination> remote) throws ToolFailure;
    }

    SideChannel(PingpongCalls calls, int port) {
        this.calls = calls;
        this.port = port;
    }

    /**
     * Exchanges the addresses as the client.
     *
     * @throws ToolFailure if it fails; the reason has been printed
     */
    List<PingPongDestination> exchangeAsClient(String server, List<PingPongDestination> local) throws ToolFailure {
        try (Socket socket = connect(server)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(bytes(local));
            List<PingPongDestination> remote = read(socket.getInputStream(), local.size())
                    .orElseThrow(
                            () -> calls.failure("Couldn't read/write remote address", server + " sent no address"));
            socket.getOutputStream().write(DONE);
            return remote;
        } catch (IOException e) {
            throw calls.failure("Couldn't read/write remote address", e.getMessage());
        }
    }

    /** Connects to the server. */
    Socket connect(String server) throws ToolFailure {
        List<InetAddress> addresses;
        try {
            addresses = HostAddresses.all(server);
        } catch (HostAddresses.LookupException e) {
            throw calls.failure(e.getMessage() + " for " + server + ":" + port);
        }
        String reason = "";
        for (InetAddress address : addresses) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(address, port), TIMEOUT_MILLIS);
                socket.setTcpNoDelay(true);
                return socket;
            } catch (IOException e) {
                reason = address.getHostAddress() + ": " + e.getMessage();
                close(socket);
            }
        }
        throw calls.failure("Couldn't connect to " + server + ":" + port, reason + "; is the server running there?");
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The socket was never connected, so no data is lost.
            return;
        }
    }

    /**
     * Exchanges the addresses as the server, with one client.
     *
     * @throws ToolFailure if it fails; the reason has been printed
     */
    List<PingPongDestination> exchangeAsServer(List<PingPongDestination> local, Connect connect) throws ToolFailure {
        try (Socket socket = accept()) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            List<PingPongDestination> remote = read(socket.getInputStream(), local.size())
                    .orElseThrow(() -> calls.failure("Couldn't read remote address", "the client sent no address"));
            connect.to(remote);
            socket.getOutputStream().write(bytes(local));
            if (!Arrays.equals(socket.getInputStream().readNBytes(DONE.length), DONE)) {
                throw calls.failure("Couldn't send/recv local address", "the client closed the connection");
            }
            return remote;
        } catch (IOException e) {
            throw calls.failure("Couldn't send/recv local address", e.getMessage());
        }
    }

    private Socket accept() throws ToolFailure {
        try (ServerSocket listening = new ServerSocket()) {
            listening.setReuseAddress(true);
            listening.bind(new InetSocketAddress(port), 1);
            return listening.accept();
        } catch (IOException e) {
            throw calls.failure("Couldn't listen to port " + port, e.getMessage());
        }
    }

    private static byte[] bytes(List<PingPongDestination> local) {
        StringBuilder text = new StringBuilder();
        for (PingPongDestination each : local) {
            text.append(each.toText()).append('\0');
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /** Reads the given number of addresses. Returns empty if there are fewer or one is malformed. */
    private static Optional<List<PingPongDestination>> read(InputStream stream, int count) throws IOException {
        List<PingPongDestination> destinations = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = stream.readNBytes(PingPongDestination.TEXT_BYTES);
            Optional<PingPongDestination> one = bytes.length < PingPongDestination.TEXT_BYTES
                    ? Optional.empty()
                    : PingPongDestination.parse(new String(bytes, 0, bytes.length - 1, StandardCharsets.US_ASCII));
            if (one.isEmpty()) {
                return Optional.empty();
            }
            destinations.add(one.get());
        }
        return Optional.of(destinations);
    }
}
