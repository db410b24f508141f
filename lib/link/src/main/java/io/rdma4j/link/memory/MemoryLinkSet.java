package io.rdma4j.link.memory;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.internal.Groups;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The link set of a {@link MemoryNetwork}. */
final class MemoryLinkSet implements LinkSet {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final MemoryNetwork network;
    private final Object monitor = new Object();
    private final List<Member> members = new ArrayList<>();
    private boolean signalled;
    private boolean closed;

    MemoryLinkSet(MemoryNetwork network) {
        this.network = network;
    }

    /** A link, channel or listener that the set waits for and closes. */
    interface Member {
        boolean hasInput();

        void close();
    }

    MemoryNetwork network() {
        return network;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public Link openUdp(InetAddress address, int port) throws IOException {
        MemoryLink link = network.bind(this, address, port);
        add(link);
        return network.conditions().apply(link);
    }

    @Override
    public Link openMulticast(InetAddress group, int port, InetAddress local) throws IOException {
        Groups.requireGroup(group, local);
        MemoryLink link = network.join(this, group, port);
        add(link);
        return network.conditions().apply(link);
    }

    @Override
    public LocalListener listenLocal(Path socket) throws IOException {
        MemoryChannel.Listener listener = network.listen(this, socket);
        add(listener);
        return listener;
    }

    @Override
    public LocalChannel connectLocal(Path socket) throws IOException {
        MemoryChannel channel = network.connect(this, socket);
        adopt(channel);
        return channel;
    }

    void adopt(MemoryChannel channel) {
        add(channel);
    }

    private void add(Member member) {
        synchronized (monitor) {
            if (closed) {
                throw new IllegalStateException("the link set is closed");
            }
            members.add(member);
        }
        wakeup();
    }

    void remove(Member member) {
        synchronized (monitor) {
            members.remove(member);
        }
    }

    /**
     * Waits only once: a spurious return is allowed, and this module has no clock to compute the remaining time with.
     */
    @Override
    @SuppressWarnings("WaitNotInLoop")
    public boolean await(long timeoutNanos) {
        boolean interrupted = Thread.interrupted();
        synchronized (monitor) {
            if (!signalled && timeoutNanos > 0 && !hasInput()) {
                try {
                    monitor.wait(timeoutNanos == Long.MAX_VALUE ? 0 : (timeoutNanos - 1) / NANOS_PER_MILLI + 1);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            signalled = false;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    private boolean hasInput() {
        for (Member member : members) {
            if (member.hasInput()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void wakeup() {
        synchronized (monitor) {
            signalled = true;
            monitor.notifyAll();
        }
    }

    /** Notifies waiting threads to check for input. Unlike {@link #wakeup}, this does not affect a later wait. */
    void inputArrived() {
        synchronized (monitor) {
            monitor.notifyAll();
        }
    }

    @Override
    public void close() {
        List<Member> all;
        synchronized (monitor) {
            closed = true;
            all = List.copyOf(members);
            members.clear();
        }
        for (Member member : all) {
            member.close();
        }
        wakeup();
    }
}
