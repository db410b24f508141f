package io.rdma4j.testkit.simulation;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A fabric of hosts under faults, drawn from one seed: two to eight hosts; reliable connections with and without shared
 * receives, extended and unreliable ones, and the streams of RDMA sockets, all made and ended by communication managers;
 * datagrams and groups; a network that loses, doubles, reorders, corrupts and delays; partitions, pauses, crashes and
 * restarts.
 *
 * <p>What is checked: every completion comes once, in order, with a status that has a reason; memory and messages are as a
 * sequential model says, or, where a connection ends early, as after some of the requests and no fewer than were reported; each
 * event of a connection comes once; nothing is stuck, and nothing is left over on any host.
 *
 * <p>The same seed gives the same run, frame by frame: see {@link Result#traceHash}. Thread safe: runs share nothing.
 */
public final class Cluster {
    /**
     * What a run was like.
     *
     * @param seed its seed
     * @param traceHash depends on every frame and its time
     * @param hosts hosts
     * @param deliveredFrames frames that arrived
     * @param lostFrames frames that did not
     * @param virtualNanos virtual time that passed
     * @param connections connections that were asked for
     * @param completed those of them on which everything was done that was meant to
     */
    public record Result(
            long seed,
            long traceHash,
            int hosts,
            long deliveredFrames,
            long lostFrames,
            long virtualNanos,
            int connections,
            int completed) {}

    private Cluster() {}

    /**
     * Does the run of a seed.
     *
     * @return a number that depends on every frame and its time
     * @throws SimulationFailure if anything is not as it must be; the message names the seed
     */
    public static long run(long seed) {
        return run(seed, null).traceHash();
    }

    /**
     * Does the run of a seed and says more about it.
     *
     * @param seed all that is random comes from it
     * @param trace takes a line for each thing that happens; null for nobody
     * @throws SimulationFailure if anything is not as it must be; the message names the seed
     */
    public static Result run(long seed, @Nullable Consumer<String> trace) {
        EventLog log = new EventLog(trace);
        ClusterRun run = new ClusterRun(seed, log);
        return NamedRun.of(seed, run::description, log::lastEvents, run::run);
    }
}
