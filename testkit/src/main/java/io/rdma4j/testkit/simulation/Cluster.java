package io.rdma4j.testkit.simulation;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything at once, drawn from one seed: reliable connections with and without shared receives, unreliable connections,
 * datagrams and groups, and the streams of RDMA sockets.
 *
 * <p>The same seed gives the same run, frame by frame: see {@link Result#traceHash}. Thread safe: runs share nothing.
 */
public final class Cluster {
    /**
     * What a run was like.
     *
     * @param seed its seed
     * @param traceHash depends on every frame and its time
     * @param deliveredFrames frames that arrived
     * @param lostFrames frames that did not
     */
    public record Result(long seed, long traceHash, long deliveredFrames, long lostFrames) {}

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
        Simulation.Result reliable = Simulation.run(seed);
        UnreliableSimulation.Result unreliable = UnreliableSimulation.run(seed);
        StreamSimulation.Result streams = StreamSimulation.run(seed);
        return new Result(
                seed,
                (reliable.traceHash() * 31 + unreliable.traceHash()) * 31 + streams.traceHash(),
                reliable.deliveredFrames() + unreliable.deliveredFrames() + streams.deliveredFrames(),
                reliable.lostFrames() + unreliable.lostFrames() + streams.lostFrames());
    }
}
