package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.testkit.VirtualNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Seeded runs of RDMA sockets' streams over reliable connections of lossy virtual networks, in which peers may die. Each run
 * draws sizes, path MTU, faults, how much each side writes, reads and when, and how it ends. Checked are order and integrity
 * of every byte, credit and room in the peer's buffer at each message, that all arrives that the peer has written, that each
 * side hears of the end, and of a peer's death in bounded time.
 *
 * <p>The same seed gives the same run, frame by frame: see {@link Result#traceHash}.
 */
public final class StreamSimulation {
    private static final long MAX_STEPS = 400_000;
    private static final double MAX_LOSS = 0.1;

    /** In which a death must be known: eight transmissions of at most four times 17 ms each, and what was to wait before. */
    private static final long MOST_NANOS_AFTER_DEATH = 2_000_000_000L;

    /**
     * What a run was like.
     *
     * @param seed its seed
     * @param traceHash depends on every frame and its time
     * @param deliveredFrames frames that arrived
     * @param lostFrames frames that did not
     * @param brokenStreams streams that broke though nobody was killed; only a lossy network can do that
     * @param kills sides that were killed
     */
    public record Result(
            long seed, long traceHash, long deliveredFrames, long lostFrames, int brokenStreams, int kills) {}

    /** Two sides of one stream; one dies at a time, or none. */
    private static final class Stream {
        final StreamSide a;
        final StreamSide b;
        final long deathNanos;

        Stream(StreamSide a, StreamSide b, long deathNanos) {
            this.a = a;
            this.b = b;
            this.deathNanos = deathNanos;
        }

        boolean isDone() {
            return (a.isDead() || a.isGone()) && (b.isDead() || b.isGone());
        }

        @Override
        public String toString() {
            return a + ", " + b;
        }

        void work(long nowNanos) {
            if (nowNanos >= deathNanos && !a.isDead() && !a.isGone()) {
                a.die();
            }
            a.work(nowNanos);
            b.work(nowNanos);
            tell(a, b);
            tell(b, a);
            if (a.isDead() && !b.isGone() && nowNanos - deathNanos > MOST_NANOS_AFTER_DEATH) {
                throw new SimulationFailure(
                        "the peer's death is not known after " + MOST_NANOS_AFTER_DEATH + " ns: " + b);
            }
        }

        /** As the connection manager does: who closes, or gives up, disconnects. */
        private static void tell(StreamSide from, StreamSide to) {
            if (from.isGone() && !to.isGone() && !to.isDead()) {
                to.end();
            }
        }
    }

    private final SplittableRandom random;
    private final long seed;
    private final StreamParameters parameters;
    private final VirtualNetwork network;
    private final List<Stream> streams = new ArrayList<>();

    private StreamSimulation(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
        parameters = StreamParameters.random(random, MAX_LOSS);
        network = new VirtualNetwork(random.nextLong(), parameters.faults());
    }

    /**
     * Does the run of a seed.
     *
     * @throws SimulationFailure if anything is not as it must be; the message names the seed
     */
    public static Result run(long seed) {
        StreamSimulation simulation = new StreamSimulation(seed);
        return NamedRun.of(
                seed,
                () -> simulation.parameters + ", at " + simulation.network.nowNanos() + " ns",
                List::of,
                simulation::run);
    }

    private Result run() {
        connect();
        long steps = 0;
        while (!streams.stream().allMatch(Stream::isDone)) {
            if (++steps > MAX_STEPS) {
                throw new SimulationFailure("not done after " + MAX_STEPS + " steps: a stream is stuck: " + streams);
            }
            streams.forEach(stream -> stream.work(network.nowNanos()));
            if (!network.step()) {
                // Nothing under way: only the applications can go on, a moment later.
                network.advanceTo(network.nowNanos() + 20_000);
            }
        }
        int broken = 0;
        int kills = 0;
        for (Stream stream : streams) {
            kills += stream.a.isDead() ? 1 : 0;
            broken += !stream.a.isDead() && (stream.a.isBroken() || stream.b.isBroken()) ? 1 : 0;
            stream.a.checkEnd();
            stream.b.checkEnd();
        }
        return new Result(seed, network.traceHash(), network.deliveredFrames(), network.lostFrames(), broken, kills);
    }

    private void connect() {
        List<SimulatedHost> hosts = List.of(network.addHost(), network.addHost());
        BooleanSupplier mayBreak =
                () -> parameters.faults().loses() || streams.stream().anyMatch(stream -> stream.a.isDead());
        for (int i = 0; i < parameters.streams(); i++) {
            SimulatedHost hostA = hosts.get(random.nextInt(hosts.size()));
            SimulatedHost hostB = hosts.get(random.nextInt(hosts.size()));
            StreamSide a = new StreamSide("stream " + i + " side a", hostA, parameters, mayBreak, random.split());
            StreamSide b = new StreamSide("stream " + i + " side b", hostB, parameters, mayBreak, random.split());
            ConnectedSide.connect(a, b, random);
            long deathNanos = parameters.kills()
                    ? random.nextLong(200 * parameters.faults().latencyNanos())
                    : Long.MAX_VALUE;
            streams.add(new Stream(a, b, deathNanos));
        }
    }
}
