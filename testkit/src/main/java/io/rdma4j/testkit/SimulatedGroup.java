package io.rdma4j.testkit;

import io.rdma4j.transport.DatagramDestination;
import io.rdma4j.transport.UdQueuePair;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A multicast group of a {@link VirtualNetwork}. What is sent to it reaches every host that has a queue pair attached,
 * also the sender's own, on a way of its own: one may miss what another gets. Not thread safe.
 */
public final class SimulatedGroup implements DatagramDestination {
    /** Number of the queue pair that datagrams to a group name. */
    public static final int QUEUE_PAIR = 0xff_ffff;

    final long high;
    final long low;
    private final Map<SimulatedHost, List<UdQueuePair>> attached = new LinkedHashMap<>();

    SimulatedGroup(long high, long low) {
        this.high = high;
        this.low = low;
    }

    /** Lets a queue pair of a host have what comes to the group. */
    public void attach(SimulatedHost host, UdQueuePair queuePair) {
        attached.computeIfAbsent(host, _ -> new ArrayList<>()).add(queuePair);
    }

    /** Takes {@link #attach} back. */
    public void detach(SimulatedHost host, UdQueuePair queuePair) {
        List<UdQueuePair> here = attached.get(host);
        if (here != null && here.remove(queuePair) && here.isEmpty()) {
            attached.remove(host);
        }
    }

    /** Hosts that have a queue pair attached. */
    List<SimulatedHost> hosts() {
        return List.copyOf(attached.keySet());
    }

    List<UdQueuePair> queuePairs(SimulatedHost host) {
        return List.copyOf(attached.getOrDefault(host, List.of()));
    }
}
