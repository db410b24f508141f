package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaDatagramSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * A datagram RDMA socket at the wildcard address, and an echo socket for each address of this host. For a line {@code
 * ADDRESS BYTES} it reports {@code echoed}: empty if datagrams of that size to that address were echoed, otherwise the
 * reason. For {@code replace ADDRESS} it replaces the echo socket of an address.
 */
public final class DatagramEchoPeer implements Role {
    private static final Duration ECHO_LIMIT = Duration.ofMillis(500);
    /** A socket probes a silent peer again after 2 seconds, so losing a few datagrams is tolerated. */
    private static final int TRIES = 20;
    /** Datagrams that must be echoed in each test, first over UDP and later between queue pairs. */
    private static final int ROUNDS = 3;

    private static final int MAX_BYTES = 4096;

    private final Map<String, RdmaDatagramSocket> echoSockets = new HashMap<>();

    @Override
    public void run(Parent parent) throws IOException {
        try (RdmaDatagramSocket socket = RdmaDatagramSocket.open()) {
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
            socket.configureBlocking(false);
            parent.report("ready", true);
            while (true) {
                String[] arguments = parent.nextCommand().split(" ", -1);
                boolean replaces = arguments[0].equals("replace");
                String address = replaces ? arguments[1] : arguments[0];
                parent.report(
                        "echoed",
                        replaces ? replace(address) : exchange(socket, address, Integer.parseInt(arguments[1])));
            }
        }
    }

    /** Replaces the echo socket of an address. Returns an empty string or the reason of a failure. */
    private String replace(String address) {
        RdmaDatagramSocket old = echoSockets.remove(address);
        if (old != null) {
            old.close();
        }
        RdmaDatagramSocket socket = RdmaDatagramSocket.open();
        try {
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral(address), 0));
        } catch (IOException failed) {
            socket.close();
            return failed.toString();
        }
        echoSockets.put(address, socket);
        Thread.ofPlatform().daemon().start(() -> echo(socket));
        return "";
    }

    private static void echo(RdmaDatagramSocket socket) {
        ByteBuffer data = ByteBuffer.allocate(MAX_BYTES);
        while (!socket.isClosed()) {
            try {
                InetSocketAddress from = socket.receiveFrom(data.clear());
                if (from != null) {
                    socket.sendTo(data.flip(), from);
                }
            } catch (IOException failed) {
                System.err.println("echo socket: " + failed);
            }
        }
    }

    private String exchange(RdmaDatagramSocket socket, String address, int bytes) {
        String reason = "no echo";
        int echoes = 0;
        RdmaDatagramSocket peer = echoSockets.get(address);
        for (int i = 0; i < TRIES && echoes < ROUNDS; i++) {
            try {
                InetSocketAddress to = peer == null ? null : peer.localAddress();
                if (to == null) {
                    return "there is no echo socket";
                }
                byte[] sent = new byte[bytes];
                sent[0] = (byte) (i + 1);
                socket.sendTo(ByteBuffer.wrap(sent), to);
                echoes += receivesEcho(socket, sent) ? 1 : 0;
            } catch (IOException failed) {
                reason = failed.toString();
                System.err.println(address + ": " + failed);
            }
        }
        return echoes < ROUNDS ? reason : "";
    }

    private static boolean receivesEcho(RdmaDatagramSocket socket, byte[] sent) throws IOException {
        ByteBuffer data = ByteBuffer.allocate(MAX_BYTES);
        while (socket.await(PollEvents.IN, ECHO_LIMIT) != 0) {
            socket.receiveFrom(data.clear()); // echoes of earlier datagrams may still arrive
            if (data.flip().equals(ByteBuffer.wrap(sent))) {
                return true;
            }
        }
        return false;
    }
}
