package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.simulator.network.VirtualNetwork;
import io.rdma4j.sockets.datagram.DatagramAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The datagram RDMA sockets of a run, at most one for each host. They send datagrams to each other.
 *
 * <p>At the end of the run the network no longer loses frames. Each socket must then reach every socket, including the
 * sockets of restarted hosts.
 */
final class DatagramSockets {
    private static final int USED = 4;
    private static final int MAX_SOCKETS = 4;
    private static final int FIRST_PORT = 7001;
    private static final int MAX_DATAGRAMS = 40;
    private static final long MAX_PAUSE_NANOS = 20_000_000;

    /** Longer than the time without a datagram after which a socket queries its peer again. */
    private static final long SILENCE_NANOS = 4_000_000_000L;

    private final VirtualNetwork network;
    private final List<SimulatedHost> hosts;
    private final MessageLedger ledger;
    private final SplittableRandom random;
    private final int mtu;
    private final boolean isUsed;
    private final List<SocketSide> sockets = new ArrayList<>();
    private final List<Integer> sent = new ArrayList<>();
    private int toSend;
    private long nextNanos;
    private long messages;
    private int arrived;

    DatagramSockets(VirtualNetwork network, List<SimulatedHost> hosts, MessageLedger ledger, SplittableRandom random) {
        this.network = network;
        this.hosts = hosts;
        this.ledger = ledger;
        this.random = random;
        isUsed = random.nextInt(USED) == 0;
        mtu = 1024 << random.nextInt(3);
        if (isUsed) {
            hosts.stream().limit(MAX_SOCKETS).forEach(this::open);
            toSend = random.nextInt(1, MAX_DATAGRAMS + 1);
        }
    }

    private void open(SimulatedHost host) {
        sockets.add(new SocketSide(this, host, FIRST_PORT + hosts.indexOf(host), ledger, mtu, random.split()));
    }

    // ---- for sockets

    long nowNanos() {
        return network.nowNanos();
    }

    /** Returns the host with an address. */
    SimulatedHost host(DatagramAddress address) {
        return hosts.stream()
                .filter(host -> host.addressHigh() == address.high() && host.addressLow() == address.low())
                .findFirst()
                .orElseThrow();
    }

    /** Returns the address of the sockets with a name. */
    DatagramAddress address(String name) {
        return sockets.stream()
                .filter(socket -> socket.name().equals(name))
                .findFirst()
                .orElseThrow()
                .address;
    }

    /** Returns an identifier for a UDP message, which differs from the identifiers of all packets. */
    long nextMessage() {
        return Long.MIN_VALUE + messages++;
    }

    /** Counts a datagram that has arrived. */
    void onArrival() {
        arrived++;
    }

    /** Returns the number of datagrams that have arrived. */
    int arrived() {
        return arrived;
    }

    // ---- the run

    /** Kills the socket of a host that crashes. */
    void onCrash(SimulatedHost host) {
        sockets.stream().filter(socket -> socket.host == host).forEach(SocketSide::kill);
    }

    /** Opens a socket at a host that has restarted. */
    void onRestart(SimulatedHost host) {
        if (isUsed && hosts.indexOf(host) < MAX_SOCKETS) {
            open(host);
        }
    }

    /** Receives all pending datagrams, and sends some datagrams. */
    void work() {
        sockets.forEach(SocketSide::receive);
        if (toSend == 0 || nowNanos() < nextNanos) {
            return;
        }
        toSend--;
        nextNanos = random.nextInt(3) == 0 ? nowNanos() + random.nextLong(MAX_PAUSE_NANOS) : nowNanos();
        SocketSide from = sockets.get(random.nextInt(sockets.size()));
        SocketSide to = sockets.get(random.nextInt(sockets.size()));
        if (!from.isKilled() && !from.host.isPaused()) {
            int id = from.send(to);
            if (id != 0) {
                sent.add(id);
            }
        }
    }

    /** Returns whether all datagrams are sent. */
    boolean isOver() {
        return toSend == 0;
    }

    /** Checks, over a network that loses nothing, that each socket reaches every socket. */
    void checkAllReached() {
        for (SocketSide from : sockets) {
            for (SocketSide to : sockets) {
                if (!from.isKilled() && !to.isKilled() && !reaches(from, to)) {
                    throw new SimulationFailure(from.name() + " does not reach " + to.name());
                }
            }
        }
    }

    /** Sends up to two datagrams. The first one may go to the queue pair that the peer had before it was restarted. */
    private boolean reaches(SocketSide from, SocketSide to) {
        for (int i = 0; i < 2; i++) {
            network.advanceTo(nowNanos() + SILENCE_NANOS);
            int id = from.send(to);
            settle();
            if (ledger.hasArrived(id)) {
                return true;
            }
        }
        return false;
    }

    private void settle() {
        boolean continues = true;
        while (continues) {
            continues = network.step();
            sockets.forEach(SocketSide::receive);
        }
    }

    /**
     * Runs the final checks.
     *
     * @param isPerfect true if the network has neither lost nor reordered anything
     */
    void checkEnd(boolean isPerfect) {
        for (int id : sent) {
            if (isPerfect && !ledger.hasArrived(id)) {
                throw new SimulationFailure(
                        "datagram " + id + " of " + ledger.sender(id) + " has not arrived over a perfect network");
            }
        }
        sockets.forEach(SocketSide::checkEnd);
    }
}
