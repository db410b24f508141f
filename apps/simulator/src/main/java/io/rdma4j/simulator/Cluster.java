package io.rdma4j.simulator;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A simulated network of hosts under faults, drawn from one seed (decision 024).
 *
 * <p>A run has two to eight hosts. Communication managers set up and end the connections: reliable ones with and
 * without shared receives, extended and unreliable ones, and the streams of RDMA sockets. Some reliable connections
 * stay idle with a keep-alive. There may also be datagrams, multicast groups, datagram services that are resolved by
 * SIDR, and datagram sockets. The network loses, duplicates, reorders, corrupts and delays frames. Hosts are
 * partitioned, paused, crashed and restarted.
 *
 * <p>The run checks that each completion is reported once, in order, and with a status for which there is a reason.
 * Memory and messages must match a sequential model. If a connection ends early, they must match the model after some
 * of the requests, at least those reported as completed. Each event of a connection is reported once. A keep-alive
 * gives up the peer after exactly the specified silence, and never earlier. A resolution ends once, with an answer that
 * the server has given, or after all retransmissions. A datagram arrives at most once for each copy, with the right
 * content and source, and is lost only by the network. At the end no operation is stuck, datagram sockets reach each
 * other, and no host has resources left.
 *
 * <p>Equal seeds give equal runs, frame by frame: see {@link Result#traceHash}. Thread safe: runs share no state.
 */
public final class Cluster {
    /**
     * The result of a run.
     *
     * @param seed the seed
     * @param traceHash a hash of every delivered frame and its time
     * @param hosts number of hosts
     * @param deliveredFrames number of frames delivered
     * @param lostFrames number of frames lost
     * @param virtualNanos virtual time that has passed
     * @param connections number of connections that were requested
     * @param completed number of connections that completed all planned work
     * @param resolvedServices number of datagram services that clients have resolved
     * @param silentPeers number of silent peers that keep-alives have given up
     * @param socketDatagrams number of datagrams that arrived at datagram sockets
     */
    public record Result(
            long seed,
            long traceHash,
            int hosts,
            long deliveredFrames,
            long lostFrames,
            long virtualNanos,
            int connections,
            int completed,
            int resolvedServices,
            int silentPeers,
            int socketDatagrams) {}

    private Cluster() {}

    /**
     * Runs a seed.
     *
     * @return a hash of every delivered frame and its time
     * @throws SimulationFailure if a check fails; the message names the seed
     */
    public static long run(long seed) {
        return run(seed, null).traceHash();
    }

    /**
     * Runs a seed and returns details.
     *
     * @param seed the seed of all random decisions
     * @param trace receives a line for each event; null for no trace
     * @throws SimulationFailure if a check fails; the message names the seed
     */
    public static Result run(long seed, @Nullable Consumer<String> trace) {
        EventLog log = new EventLog(trace);
        ClusterRun run = new ClusterRun(seed, log);
        return NamedRun.of(seed, run::description, log::lastEvents, run::run);
    }
}
