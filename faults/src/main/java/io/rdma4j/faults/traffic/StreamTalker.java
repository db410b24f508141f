package io.rdma4j.faults.traffic;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaStreamSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A stream RDMA socket that listens at the wildcard address and sends back what its connections receive, and connections to
 * it.
 *
 * <p>For {@code exchange ADDRESS} it connects to that address of this host and says {@code exchanged}: empty when what it
 * sent came back, the reason otherwise. For {@code hold ADDRESS} it does the same and keeps the connection; for {@code held}
 * it says what a read of that connection ends with: {@code end} for an orderly end, the message of the failure, or
 * {@code nothing} when neither has come in time.
 */
public final class StreamTalker implements Role {
    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final int BYTES = 10_000;

    private @Nullable RdmaStreamSocket held;

    @Override
    public void run(Parent parent) throws IOException {
        try (RdmaStreamSocket listener = RdmaStreamSocket.open()) {
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
            listener.listen(8);
            int port = Objects.requireNonNull(listener.localAddress()).getPort();
            Thread.ofPlatform().daemon().start(() -> serve(listener));
            parent.report("ready", true);
            while (true) {
                String[] words = parent.nextCommand().split(" ", -1);
                if (words[0].equals("held")) {
                    parent.report("exchanged", endOfHeld());
                } else {
                    parent.report("exchanged", exchange(words[1], port, words[0].equals("hold")));
                }
            }
        }
    }

    private static void serve(RdmaStreamSocket listener) {
        while (!listener.isClosed()) {
            try {
                RdmaStreamSocket socket = Objects.requireNonNull(listener.accept());
                Thread.ofPlatform().daemon().start(() -> sendBack(socket));
            } catch (IOException failed) {
                System.err.println("listener: " + failed);
            }
        }
    }

    private static void sendBack(RdmaStreamSocket socket) {
        ByteBuffer data = ByteBuffer.allocate(BYTES);
        try (socket) {
            while (socket.receive(data.clear()) >= 0) {
                data.flip();
                while (data.hasRemaining()) {
                    socket.send(data);
                }
            }
        } catch (IOException failed) {
            System.err.println("connection of the listener: " + failed);
        }
    }

    private String exchange(String address, int port, boolean isKept) {
        RdmaStreamSocket socket = RdmaStreamSocket.open();
        try {
            socket.connect(new InetSocketAddress(InetAddress.ofLiteral(address), port));
            ByteBuffer sent = ByteBuffer.allocate(BYTES);
            for (int i = 0; i < BYTES; i++) {
                sent.put(i, (byte) (i * 31));
            }
            while (sent.hasRemaining()) {
                socket.send(sent);
            }
            ByteBuffer received = ByteBuffer.allocate(BYTES);
            while (received.hasRemaining()) {
                if (socket.await(PollEvents.IN, ANSWER) == 0) {
                    return received.position() + " of " + BYTES + " bytes came back";
                }
                if (socket.receive(received) < 0) {
                    return "the connection ended after " + received.position() + " bytes";
                }
            }
            if (isKept) {
                held = socket;
            }
            return received.flip().equals(sent.flip()) ? "" : "other bytes came back";
        } catch (IOException failed) {
            return failed.toString();
        } finally {
            if (socket != held) {
                socket.close();
            }
        }
    }

    private String endOfHeld() {
        try (RdmaStreamSocket socket = Objects.requireNonNull(held, "a connection that is held")) {
            if (socket.await(PollEvents.IN, ANSWER) == 0) {
                return "nothing";
            }
            int count = socket.receive(ByteBuffer.allocate(1));
            return count < 0 ? "end" : count + " bytes";
        } catch (IOException failed) {
            return String.valueOf(failed.getMessage());
        } finally {
            held = null;
        }
    }
}
