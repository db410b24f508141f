package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.simulator.network.VirtualNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Seeded runs of RDMA sockets' streams over reliable connections of lossy virtual networks, in which peers may die.
 *
 * <p>Each run draws from its seed the sizes, the path MTU, the faults, how much and when each side writes and reads,
 * and how it ends. It checks the order and integrity of every byte, and the credit and the space in the peer's buffer
 * at each message. All bytes that the peer has written must arrive. Each side must be notified of the end, and of a
 * peer's death in bounded time.
 *
 * <p>Equal seeds give equal runs, frame by frame: see {@link Result#traceHash}.
 */
public final class StreamSimulation {
    private static final long MAX_STEPS = 400_000;
    private static final double MAX_LOSS = 0.1;

    /**
     * The time within which a death must be detected.
     *
     * <p>It allows for eight transmissions of at most four times 17 ms each, and for the wait before the first one.
     */
    private static final long MAX_NANOS_AFTER_DEATH = 2_000_000_000L;

    /**
     * The result of a run.
     *
     * @param seed the seed
     * @param traceHash a hash of every delivered frame and its time
     * @param deliveredFrames number of frames delivered
     * @param lostFrames number of frames lost
     * @param brokenStreams number of streams that broke although no side was killed, which only a lossy network can
     *     cause
     * @param kills number of sides that were killed
     */
    public record Result(
            long seed, long traceHash, long deliveredFrames, long lostFrames, int brokenStreams, int kills) {}

    /** The two sides of a stream, of which at most one is killed. */
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
            return (a.isKilled() || a.isClosed()) && (b.isKilled() || b.isClosed());
        }

        @Override
        public String toString() {
            return a + ", " + b;
        }

        void work(long nowNanos) {
            if (nowNanos >= deathNanos && !a.isKilled() && !a.isClosed()) {
                a.kill();
            }
            a.work(nowNanos);
            b.work(nowNanos);
            notifyOfEnd(a, b);
            notifyOfEnd(b, a);
            if (a.isKilled() && !b.isClosed() && nowNanos - deathNanos > MAX_NANOS_AFTER_DEATH) {
                throw new SimulationFailure(
                        "the peer's death was not detected within " + MAX_NANOS_AFTER_DEATH + " ns: " + b);
            }
        }

        /** Disconnects like a connection manager: if a side has closed or failed, the other side is notified. */
        private static void notifyOfEnd(StreamSide from, StreamSide to) {
            if (from.isClosed() && !to.isClosed() && !to.isKilled()) {
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
     * Runs a seed.
     *
     * @throws SimulationFailure if a check fails; the message names the seed
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
                // Nothing is in flight: advance the time so that the applications continue.
                network.advanceTo(network.nowNanos() + 20_000);
            }
        }
        int broken = 0;
        int kills = 0;
        for (Stream stream : streams) {
            kills += stream.a.isKilled() ? 1 : 0;
            broken += !stream.a.isKilled() && (stream.a.isBroken() || stream.b.isBroken()) ? 1 : 0;
            stream.a.checkEnd();
            stream.b.checkEnd();
        }
        return new Result(seed, network.traceHash(), network.deliveredFrames(), network.lostFrames(), broken, kills);
    }

    private void connect() {
        List<SimulatedHost> hosts = List.of(network.addHost(), network.addHost());
        BooleanSupplier mayBreak =
                () -> parameters.faults().loses() || streams.stream().anyMatch(stream -> stream.a.isKilled());
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
