package io.rdma4j.sockets.io;

import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.sockets.datagram.DatagramPath;
import io.rdma4j.sockets.datagram.DatagramProtocol;
import io.rdma4j.sockets.datagram.LocalEnd;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The local addresses of a datagram endpoint with their queue pairs. Not thread safe but for {@link #hub}. */
final class DatagramEnds implements AutoCloseable {
    /** Local addresses that have a queue pair; a socket bound to a wildcard may use several. */
    private static final int MOST_ENDS = 64;

    private static final Logger LOGGER = System.getLogger(DatagramEnds.class.getName());

    private final CompletionHub.Target target;
    private final List<DatagramResources> ends = new ArrayList<>();

    /** Threads at the hubs of further devices: threads that wait for the endpoint wait at that of the first. */
    private final Map<CompletionHub, CompletionHub.HelperThread> helperThreads = new HashMap<>();

    private volatile @Nullable CompletionHub hub;

    /** No ends; {@code target} hears of the completions of those to come. */
    DatagramEnds(CompletionHub.Target target) {
        this.target = target;
    }

    /** Where to wait for them, or null while there are none. */
    @Nullable
    CompletionHub hub() {
        return hub;
    }

    /** Makes the end of an address. */
    DatagramResources add(DatagramAddress address, DatagramSettings settings) {
        DatagramResources made = DatagramResources.open(address, settings, target);
        ends.add(made);
        CompletionHub own = made.hub();
        if (hub == null) {
            hub = own;
        } else if (own != hub) {
            helperThreads.computeIfAbsent(own, CompletionHub::helperThread);
        }
        return made;
    }

    /** The end of an address, or null; with room for another one then. */
    @Nullable
    DatagramResources find(DatagramAddress address) throws SocketException {
        for (DatagramResources end : ends) {
            if (end.end().address().equals(address)) {
                return end;
            }
        }
        if (ends.size() == MOST_ENDS) {
            throw new SocketException("Cannot allocate memory (the socket uses " + MOST_ENDS + " local addresses)");
        }
        return null;
    }

    /** The address that leads to a peer: the one that the socket is bound to, or that routing chooses. */
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

    /** Tells the protocol of all ends. */
    void introduceTo(DatagramProtocol protocol) {
        ends.forEach(end -> protocol.add(end.end()));
    }

    /** The way from an end to a peer. */
    DatagramPath path(LocalEnd from, DatagramAddress peer, int typeOfService) {
        for (DatagramResources end : ends) {
            if (end.end() == from) {
                return end.path(peer, typeOfService);
            }
        }
        throw new IllegalStateException("No such local end: " + from.address());
    }

    /**
     * Gives the protocol what has completed, as much as one call may take; drives the devices. An end whose queue pair has failed is removed:
     * its device has gone, or refused a datagram. The address gets a new end when it is needed next.
     *
     * @return whether more may have completed
     */
    boolean progress(DatagramProtocol protocol) {
        long now = System.nanoTime();
        boolean more = false;
        for (int i = 0; i < ends.size(); i++) { // what has come may add an end
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
        LOGGER.log(Level.DEBUG, () -> "Queue pair of " + end.end().address() + " is replaced: " + end.failure());
        ends.remove(end);
        protocol.remove(end.end());
        end.close();
        CompletionHub.HelperThread helperThread =
                ends.stream().anyMatch(other -> other.hub() == end.hub()) ? null : helperThreads.remove(end.hub());
        if (helperThread != null) {
            helperThread.end();
        }
    }

    /** Has the hubs told of what completes next; whether any was not yet to be told. */
    boolean arm() {
        boolean any = false;
        for (DatagramResources end : ends) {
            any |= end.arm();
        }
        return any;
    }

    /** A hub has told. */
    void disarmed() {
        ends.forEach(DatagramResources::disarmed);
    }

    @Override
    public void close() {
        ends.forEach(DatagramResources::close);
        ends.clear();
        helperThreads.values().forEach(CompletionHub.HelperThread::end);
        helperThreads.clear();
    }
}
