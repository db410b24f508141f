package io.rdma4j.link.linux;

import io.rdma4j.link.Flow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The flows of a link: sockets that only send, each bound to its own UDP source port (decision 048). Queue pairs with
 * the same port share a socket. Beyond {@value #MAX_SOCKETS} sockets, all others share these, since each socket is a
 * descriptor.
 */
final class LinuxFlows {
    private static final int MAX_SOCKETS = 128;

    /** Opens a socket that is bound to a port of the link's address. */
    @FunctionalInterface
    interface Opener {
        SendSocket open(int port) throws IOException;
    }

    private final Opener opener;
    private final Map<Integer, FlowSocket> sockets = new HashMap<>();
    private boolean isClosed;

    LinuxFlows(Opener opener) {
        this.opener = opener;
    }

    /** Opens a flow with a port, or with another port if there are many flows; null if the port cannot be bound. */
    synchronized @Nullable Flow open(int port) {
        if (isClosed) {
            return null;
        }
        FlowSocket socket = sockets.get(port);
        if (socket == null && sockets.size() >= MAX_SOCKETS) {
            List<FlowSocket> all = new ArrayList<>(sockets.values());
            socket = all.get(port % all.size());
        }
        if (socket == null) {
            try {
                socket = new FlowSocket(port, opener.open(port));
            } catch (IOException e) {
                return null; // another process has the port, or there are no more descriptors
            }
            sockets.put(port, socket);
        }
        socket.users++;
        return new LinuxFlow(socket);
    }

    private synchronized void leave(FlowSocket socket) {
        if (--socket.users == 0 && sockets.remove(socket.port, socket)) {
            socket.sender.socket.close();
        }
    }

    /** Closes all flows. */
    synchronized void close() {
        isClosed = true;
        sockets.values().forEach(socket -> socket.sender.socket.close());
        sockets.clear();
    }

    private static final class FlowSocket {
        final int port;
        final SendSocket sender;
        int users;

        FlowSocket(int port, SendSocket sender) {
            this.port = port;
            this.sender = sender;
        }
    }

    /** A user's share of a socket. */
    final class LinuxFlow implements Flow {
        private final FlowSocket socket;
        private boolean hasLeft;

        private LinuxFlow(FlowSocket socket) {
            this.socket = socket;
        }

        SendSocket sender() {
            return socket.sender;
        }

        @Override
        public int sourcePort() {
            return socket.port;
        }

        @Override
        public boolean isOpen() {
            return !hasLeft && !socket.sender.socket.closed;
        }

        @Override
        public void close() {
            if (!hasLeft) {
                hasLeft = true;
                leave(socket);
            }
        }
    }
}
