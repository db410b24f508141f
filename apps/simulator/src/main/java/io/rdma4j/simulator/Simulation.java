package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.simulator.network.VirtualNetwork;
import io.rdma4j.transport.RcQueuePair;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Seeded runs of random work over lossy virtual networks.
 *
 * <p>Each run draws hosts, connections, path MTUs, queue sizes, faults and operations from its seed. It checks every
 * completion and every byte, and that nothing is left at the end.
 *
 * <p>Equal seeds give equal runs, frame by frame: see {@link Result#traceHash}.
 */
public final class Simulation {
    private static final long MAX_STEPS = 3_000_000;
    private static final double MAX_LOSS = 0.2;

    /**
     * The result of a run.
     *
     * @param seed the seed
     * @param traceHash a hash of every delivered frame and its time
     * @param deliveredFrames number of frames delivered
     * @param lostFrames number of frames lost
     * @param virtualNanos virtual time that has passed
     * @param brokenConnections number of connections whose retries ran out, which only a lossy network can cause
     */
    public record Result(
            long seed,
            long traceHash,
            long deliveredFrames,
            long lostFrames,
            long virtualNanos,
            int brokenConnections) {}

    /** The two sides of a connection. */
    private record Connection(SimulatedSide a, SimulatedSide b) {}

    private final SplittableRandom random;
    private final long seed;
    private final RunParameters parameters;
    private final VirtualNetwork network;
    private final List<Connection> connections = new ArrayList<>();
    private final Map<SimulatedHost, ReceivePool> pools = new LinkedHashMap<>();

    private Simulation(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
        parameters = RunParameters.random(random, MAX_LOSS);
        network = new VirtualNetwork(random.nextLong(), parameters.faults());
    }

    /**
     * Runs a seed.
     *
     * @throws SimulationFailure if a check fails; the message names the seed
     */
    public static Result run(long seed) {
        Simulation simulation = new Simulation(seed);
        return NamedRun.of(
                seed,
                () -> simulation.parameters + ", at " + simulation.network.nowNanos() + " ns",
                List::of,
                simulation::run);
    }

    private Result run() {
        connect();
        long steps = 0;
        while (!allDone()) {
            if (++steps > MAX_STEPS) {
                throw new SimulationFailure("not done after " + MAX_STEPS + " steps: an operation is stuck");
            }
            connections.forEach(this::work);
            if (!network.step()) {
                // Nothing is in flight: advance the time so that the applications continue.
                network.advanceTo(network.nowNanos() + 1_000);
            }
        }
        settle();
        int broken = 0;
        for (Connection connection : connections) {
            if (connection.a.isBroken() || connection.b.isBroken()) {
                broken++;
            }
            connection.a.checkEnd();
            connection.b.checkEnd();
        }
        pools.values().forEach(ReceivePool::checkEnd);
        checkBroken(broken);
        return new Result(
                seed, network.traceHash(), network.deliveredFrames(), network.lostFrames(), network.nowNanos(), broken);
    }

    /** Checks that the network lost enough frames to exhaust the retries of the broken connections. */
    private void checkBroken(int broken) {
        boolean countsEveryLoss = parameters.faults().corruption() == 0; // a corrupted frame does not count as lost
        if (countsEveryLoss && network.lostFrames() <= (long) broken * SimulatedSide.RETRIES && broken > 0) {
            throw new SimulationFailure(
                    broken + " connections broke although the network lost only " + network.lostFrames() + " frames");
        }
    }

    private void connect() {
        List<SimulatedHost> hosts = new ArrayList<>();
        int receiveBytes = parameters.maxMessageBytes() + SideReceives.SLACK_BYTES;
        for (int i = 0; i < parameters.hosts(); i++) {
            SimulatedHost host = network.addHost();
            hosts.add(host);
            if (random.nextBoolean()) {
                pools.put(host, new ReceivePool(host, receiveBytes, random.split()));
            }
        }
        for (int i = 0; i < parameters.connections(); i++) {
            SimulatedHost hostA = hosts.get(random.nextInt(hosts.size()));
            SimulatedHost hostB = hosts.get(random.nextInt(hosts.size()));
            SimulatedSide a = new SimulatedSide(
                    "connection " + i + " side a",
                    hostA,
                    RcQueuePair.Role.CONNECTED,
                    parameters,
                    pool(hostA),
                    () -> true,
                    random.split());
            SimulatedSide b = new SimulatedSide(
                    "connection " + i + " side b",
                    hostB,
                    RcQueuePair.Role.CONNECTED,
                    parameters,
                    pool(hostB),
                    () -> true,
                    random.split());
            ConnectedSide.connect(a, b, random);
            connections.add(new Connection(a, b));
        }
    }

    /** Returns the receives that a side on this host shares with others, or null if it has its own. */
    private @Nullable ReceivePool pool(SimulatedHost host) {
        return random.nextInt(4) == 0 ? null : pools.get(host);
    }

    private void work(Connection connection) {
        connection.a.work(network.nowNanos());
        connection.b.work(network.nowNanos());
        if (connection.a.isBroken() != connection.b.isBroken()) {
            connection.a.end();
            connection.b.end();
        }
    }

    private boolean allDone() {
        for (Connection connection : connections) {
            if (!connection.a.isDone() || !connection.b.isDone()) {
                return false;
            }
        }
        return true;
    }

    /** Delivers the last packets; unsignaled work may still be in flight. */
    private void settle() {
        long steps = 0;
        while (network.step()) {
            if (++steps > MAX_STEPS) {
                throw new SimulationFailure("the network does not become idle");
            }
        }
    }
}
