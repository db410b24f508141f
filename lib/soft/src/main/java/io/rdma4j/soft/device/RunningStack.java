package io.rdma4j.soft.device;

import io.rdma4j.sharing.Sharing;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.engine.SharedPorts;
import io.rdma4j.soft.gsi.GsiQueuePair;
import io.rdma4j.soft.gsi.MulticastGroups;
import java.util.Map;

/**
 * The running parts of a stack, which its devices share.
 *
 * @param engines drive the queue pairs
 * @param sharing the addresses and files that this process shares with others
 * @param ports the ports of addresses
 * @param gsi queue pair 1, which the main engine drives
 * @param groups the multicast groups that the main engine receives
 * @param reports the reports of the stack for other processes and for Flight Recorder
 */
public record RunningStack(
        Engines engines,
        Sharing sharing,
        SharedPorts ports,
        GsiQueuePair gsi,
        MulticastGroups groups,
        StackReports reports) {
    /** Returns the counters by name, which cover all devices of the stack. */
    Map<String, Long> counters() {
        return Counters.of(engines.counters(), sharing.counters());
    }
}
