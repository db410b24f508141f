package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
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
 * A stream RDMA socket at the wildcard address that echoes what its connections receive, and clients of it.
 *
 * <p>The parent sends these commands, whose responses are reported as {@code exchanged}:
 *
 * <ul>
 * <li>{@code exchange ADDRESS} connects to that address of this host. The response is empty if the data was echoed,
 * otherwise the reason.
 * <li>{@code hold ADDRESS} does the same and keeps the connection.
 * <li>{@code held} reads from that connection. The response is {@code end} for an orderly end, the message of a
 * failure, or {@code nothing} if neither occurs in time.
 * </ul>
 */
public final class StreamEchoPeer implements Role {
    private static final Duration READ_LIMIT = Duration.ofSeconds(20);
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
                String[] arguments = parent.nextCommand().split(" ", -1);
                if (arguments[0].equals("held")) {
                    parent.report("exchanged", endOfHeld());
                } else {
                    parent.report("exchanged", exchange(arguments[1], port, arguments[0].equals("hold")));
                }
            }
        }
    }

    private static void serve(RdmaStreamSocket listener) {
        while (!listener.isClosed()) {
            try {
                RdmaStreamSocket socket = Objects.requireNonNull(listener.accept());
                Thread.ofPlatform().daemon().start(() -> echo(socket));
            } catch (IOException failed) {
                System.err.println("listener: " + failed);
            }
        }
    }

    private static void echo(RdmaStreamSocket socket) {
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
                if (socket.await(PollEvents.IN, READ_LIMIT) == 0) {
                    return received.position() + " of " + BYTES + " bytes were echoed";
                }
                if (socket.receive(received) < 0) {
                    return "the connection ended after " + received.position() + " bytes";
                }
            }
            if (isKept) {
                held = socket;
            }
            return received.flip().equals(sent.flip()) ? "" : "wrong bytes were echoed";
        } catch (IOException failed) {
            return failed.toString();
        } finally {
            if (socket != held) {
                socket.close();
            }
        }
    }

    private String endOfHeld() {
        try (RdmaStreamSocket socket = Objects.requireNonNull(held, "no connection is held")) {
            if (socket.await(PollEvents.IN, READ_LIMIT) == 0) {
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
