package io.rdma4j.link.linux;

import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.internal.SocketFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Accepts rings. A process that has connected but not sent its ring yet does not hold up the others. */
final class LinuxRingListener implements RingListener {
    private static final System.Logger LOGGER = System.getLogger(LinuxRingListener.class.getName());

    /** The maximum number of pending processes, more than can have a slot. Beyond that, those that connected first are dropped. */
    private static final int MAX_PENDING = 256;

    private final LinuxLinkSet set;
    private final Socket socket;
    private final SocketFile file;
    private final boolean copiesAll;
    private final RingGreeting greeting = new RingGreeting();
    private final List<Socket> pending = new ArrayList<>();

    LinuxRingListener(LinuxLinkSet set, Socket socket, SocketFile file, boolean copiesAll) {
        this.set = set;
        this.socket = socket;
        this.file = file;
        this.copiesAll = copiesAll;
    }

    @Override
    public @Nullable ReceiveRing accept() {
        if (socket.closed) {
            return null;
        }
        acceptPending();
        for (int i = pending.size() - 1; i >= 0; i--) {
            Socket accepted = pending.get(i);
            try {
                int fd = greeting.receive(accepted);
                if (fd >= 0) {
                    pending.remove(i);
                    return ring(accepted, fd);
                }
            } catch (IOException e) {
                // The other process keeps using UDP, since its end of the ring ends.
                LOGGER.log(System.Logger.Level.DEBUG, "a ring of another process is refused", e);
                pending.remove(accepted);
                accepted.close();
            }
        }
        return null;
    }

    private ReceiveRing ring(Socket accepted, int fd) throws IOException {
        long high = greeting.sourceHigh();
        long low = greeting.sourceLow();
        return new LinuxReceiveRing(set, SharedMemory.map(fd), copiesAll, accepted, high, low);
    }

    private void acceptPending() {
        for (int i = 0; i < MAX_PENDING; i++) {
            int fd = set.accept(socket, null); // without descriptors: the other process keeps using UDP
            if (fd < 0) {
                return;
            }
            Socket accepted = Socket.accepted(set, fd);
            if (accepted.isOfSameUser()) {
                if (pending.size() == MAX_PENDING) {
                    pending.removeFirst().close();
                }
                pending.add(accepted);
                set.add(accepted);
            } else {
                accepted.close(); // the file's permissions exclude other users, unless they were changed
            }
        }
    }

    @Override
    public void close() {
        pending.forEach(Socket::close);
        pending.clear();
        if (!socket.closed) {
            file.remove();
            socket.close();
        }
    }
}
