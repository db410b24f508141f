package io.rdma4j.simulator.network;

import io.rdma4j.transport.DatagramDestination;
import io.rdma4j.transport.UdQueuePair;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A multicast group of a {@link VirtualNetwork}.
 *
 * <p>A datagram sent to it is delivered to every host with an attached queue pair, including the sender. Each copy is
 * lost or delayed independently. Not thread safe.
 */
public final class SimulatedGroup implements DatagramDestination {
    /** The destination queue pair number of datagrams to a group. */
    public static final int QUEUE_PAIR = 0xff_ffff;

    final long addressHigh;
    final long addressLow;
    private final Map<SimulatedHost, List<UdQueuePair>> attached = new LinkedHashMap<>();

    SimulatedGroup(long addressHigh, long addressLow) {
        this.addressHigh = addressHigh;
        this.addressLow = addressLow;
    }

    /** Attaches a queue pair of a host, which then receives the datagrams sent to the group. */
    public void attach(SimulatedHost host, UdQueuePair queuePair) {
        attached.computeIfAbsent(host, _ -> new ArrayList<>()).add(queuePair);
    }

    /** Detaches a queue pair. */
    public void detach(SimulatedHost host, UdQueuePair queuePair) {
        List<UdQueuePair> queuePairs = attached.get(host);
        if (queuePairs != null && queuePairs.remove(queuePair) && queuePairs.isEmpty()) {
            attached.remove(host);
        }
    }

    /** Returns the hosts with an attached queue pair. */
    List<SimulatedHost> hosts() {
        return List.copyOf(attached.keySet());
    }

    List<UdQueuePair> queuePairs(SimulatedHost host) {
        return List.copyOf(attached.getOrDefault(host, List.of()));
    }
}
