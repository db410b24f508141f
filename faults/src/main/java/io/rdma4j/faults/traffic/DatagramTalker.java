package io.rdma4j.faults.traffic;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
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
 * One datagram RDMA socket at the wildcard address, and for each address of this host a socket that sends back what it
 * receives. For each line {@code ADDRESS BYTES} of the test it says {@code echoed}: empty when datagrams of that size to that
 * address came back, the reason otherwise; for {@code anew ADDRESS} it replaces the answering socket of an address first.
 */
public final class DatagramTalker implements Role {
    private static final Duration ANSWER = Duration.ofMillis(500);
    /** A socket asks a silent peer anew after 2 seconds, so that a lost datagram or two do not count. */
    private static final int TRIES = 20;
    /** Rounds that must be answered in each test: over UDP at first, from queue pair to queue pair then. */
    private static final int ROUNDS = 3;

    private static final int MOST_BYTES = 4096;

    private final Map<String, RdmaDatagramSocket> answering = new HashMap<>();

    @Override
    public void run(Parent parent) throws IOException {
        try (RdmaDatagramSocket socket = RdmaDatagramSocket.open()) {
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
            socket.configureBlocking(false);
            parent.report("ready", true);
            while (true) {
                String[] words = parent.nextCommand().split(" ", -1);
                boolean isAnew = words[0].equals("anew");
                String address = isAnew ? words[1] : words[0];
                parent.report("echoed", isAnew ? anew(address) : exchange(socket, address, Integer.parseInt(words[1])));
            }
        }
    }

    /** Opens the answering socket of an address, in place of the one before; the reason if that fails. */
    private String anew(String address) {
        RdmaDatagramSocket old = answering.remove(address);
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
        answering.put(address, socket);
        Thread.ofPlatform().daemon().start(() -> sendBack(socket));
        return "";
    }

    private static void sendBack(RdmaDatagramSocket socket) {
        ByteBuffer data = ByteBuffer.allocate(MOST_BYTES);
        while (!socket.isClosed()) {
            try {
                InetSocketAddress from = socket.receiveFrom(data.clear());
                if (from != null) {
                    socket.sendTo(data.flip(), from);
                }
            } catch (IOException failed) {
                System.err.println("answering socket: " + failed);
            }
        }
    }

    private String exchange(RdmaDatagramSocket socket, String address, int bytes) {
        String why = "no answer";
        int answers = 0;
        RdmaDatagramSocket peer = answering.get(address);
        for (int i = 0; i < TRIES && answers < ROUNDS; i++) {
            try {
                InetSocketAddress to = peer == null ? null : peer.localAddress();
                if (to == null) {
                    return "there is no answering socket";
                }
                byte[] sent = new byte[bytes];
                sent[0] = (byte) (i + 1);
                socket.sendTo(ByteBuffer.wrap(sent), to);
                answers += hasAnswer(socket, sent) ? 1 : 0;
            } catch (IOException failed) {
                why = failed.toString();
                System.err.println(address + ": " + failed);
            }
        }
        return answers < ROUNDS ? why : "";
    }

    private static boolean hasAnswer(RdmaDatagramSocket socket, byte[] sent) throws IOException {
        ByteBuffer data = ByteBuffer.allocate(MOST_BYTES);
        while (socket.await(PollEvents.IN, ANSWER) != 0) {
            socket.receiveFrom(data.clear()); // an answer to an earlier datagram may still come
            if (data.flip().equals(ByteBuffer.wrap(sent))) {
                return true;
            }
        }
        return false;
    }
}
