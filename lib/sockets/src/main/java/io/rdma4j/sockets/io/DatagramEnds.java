package io.rdma4j.sockets.io;

import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.sockets.datagram.DatagramPath;
import io.rdma4j.sockets.datagram.DatagramProtocol;
import io.rdma4j.sockets.datagram.LocalEnd;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The local addresses of a datagram endpoint with their queue pairs. Not thread safe except for {@link #waitDriver}.
 */
final class DatagramEnds implements AutoCloseable {
    /** Maximum number of local addresses with a queue pair; a socket bound to a wildcard may use several. */
    private static final int MAX_ENDS = 64;

    private final ConnectionService service;
    private final Signal changed;
    private final List<DatagramResources> ends = new ArrayList<>();
    private volatile @Nullable WaitDriver driver;

    /** Creates an empty set. {@code changed} is raised at completions of ends that are added later. */
    DatagramEnds(ConnectionService service, Signal changed) {
        this.service = service;
        this.changed = changed;
    }

    /** Returns the driver that makes progress while a thread waits for completions, or null before the first end. */
    @Nullable
    WaitDriver waitDriver() {
        return driver;
    }

    /** Creates the end of an address. */
    DatagramResources add(DatagramAddress address, DatagramSettings settings) {
        DatagramResources created = DatagramResources.open(service, address, settings, changed);
        ends.add(created);
        driver = created.waitDriver();
        return created;
    }

    /** Returns the end of an address, or null if there is none and another one can be added. */
    @Nullable
    DatagramResources find(DatagramAddress address) throws SocketException {
        for (DatagramResources end : ends) {
            if (end.end().address().equals(address)) {
                return end;
            }
        }
        if (ends.size() == MAX_ENDS) {
            throw new SocketException("Cannot allocate memory (the socket uses " + MAX_ENDS + " local addresses)");
        }
        return null;
    }

    /** Returns the local address for sending to a peer: the bound address, or the address that routing chooses. */
    static DatagramAddress addressFor(DatagramAddress peer, InetSocketAddress bound) throws IOException {
        InetAddress host = bound.getAddress().isAnyLocalAddress() ? routeTo(peer) : bound.getAddress();
        return DatagramAddresses.of(new InetSocketAddress(host, bound.getPort()));
    }

    private static InetAddress routeTo(DatagramAddress peer) throws IOException {
        try (DatagramChannel probe =
                DatagramChannel.open(peer.isIpv4() ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6)) {
            probe.connect(DatagramAddresses.socketAddress(peer));
            return ((InetSocketAddress) probe.getLocalAddress()).getAddress();
        }
    }

    /** Adds all ends to the protocol. */
    void addTo(DatagramProtocol protocol) {
        ends.forEach(end -> protocol.add(end.end()));
    }

    /** Returns the path from an end to a peer. */
    DatagramPath path(LocalEnd from, DatagramAddress peer, int typeOfService) {
        for (DatagramResources end : ends) {
            if (end.end() == from) {
                return end.path(peer, typeOfService);
            }
        }
        throw new IllegalStateException("No such local end: " + from.address());
    }

    /**
     * Passes completions to the protocol, up to a limit per call, and drives the devices. If a queue pair has failed,
     * because its device was removed or because of a datagram, its end is removed. The address gets a new end with the
     * next datagram.
     *
     * @return true if there may be more completions
     */
    boolean progress(DatagramProtocol protocol) {
        long now = SystemTime.nanos(); // system time: peers answer over UDP sockets of the platform
        boolean more = false;
        for (int i = 0; i < ends.size(); i++) { // handling completions may add an end
            more |= ends.get(i).progress(protocol, now);
        }
        for (int i = ends.size() - 1; i >= 0; i--) {
            if (ends.get(i).failure() != null) {
                remove(ends.get(i), protocol);
            }
        }
        return more;
    }

    private void remove(DatagramResources end, DatagramProtocol protocol) {
        logger().log(Level.DEBUG, () -> "Queue pair of " + end.end().address() + " is replaced: " + end.failure());
        ends.remove(end);
        try (end) {
            protocol.remove(end.end());
        }
    }

    /** Requests notifications of completions. Returns whether any was not requested before. */
    boolean arm() {
        boolean any = false;
        for (DatagramResources end : ends) {
            any |= end.arm();
        }
        return any;
    }

    @Override
    public void close() {
        List<DatagramResources> all = List.copyOf(ends);
        ends.clear();
        Releases.closeAll(all, DatagramResources::close);
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(DatagramEnds.class.getName());
    }
}
