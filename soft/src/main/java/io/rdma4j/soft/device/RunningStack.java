package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.gsi.GsiQueuePair;
import io.rdma4j.soft.gsi.MulticastGroups;
import io.rdma4j.soft.sharing.Sharing;

/**
 * The running parts of a stack, which its devices share.
 *
 * @param engines drive the queue pairs
 * @param sharing opens the ports of addresses, which other processes share
 * @param gsi queue pair 1, which the main engine drives
 * @param groups the multicast groups that the main engine receives
 * @param reports the reports of the stack for other processes and for Flight Recorder
 */
public record RunningStack(
        Engines engines, Sharing sharing, GsiQueuePair gsi, MulticastGroups groups, StackReports reports) {}
