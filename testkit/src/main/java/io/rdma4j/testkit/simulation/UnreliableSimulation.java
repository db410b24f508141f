package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.NetworkFaults;
import io.rdma4j.testkit.SimulatedGroup;
import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.testkit.VirtualNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Seeded runs of random messages over unreliable connections and of datagrams, also to multicast groups, over lossy virtual
 * networks. Each run draws hosts, queue pairs, groups and their members, path MTUs, queue sizes, keys, faults and messages
 * from its seed. Checked are: what arrives is what was sent, whole, at whom it was sent to, in a receive that was posted;
 * nothing arrives twice that the network has not doubled; every send completes; and over a network without faults, with a
 * receive for each message, all of them arrive in order.
 *
 * <p>The same seed gives the same run, frame by frame: see {@link Result#traceHash}.
 */
public final class UnreliableSimulation {
    private static final long MAX_STEPS = 1_000_000;
    private static final double MAX_LOSS = 0.3;

    /**
     * What a run was like.
     *
     * @param seed its seed
     * @param traceHash depends on every frame and its time
     * @param deliveredFrames frames that arrived
     * @param lostFrames frames that did not
     * @param sentMessages messages sent
     * @param arrivedMessages messages that arrived
     * @param arrivedAtMembers those of them that were sent to a group
     * @param isPerfect whether everything had to arrive
     */
    public record Result(
            long seed,
            long traceHash,
            long deliveredFrames,
            long lostFrames,
            int sentMessages,
            int arrivedMessages,
            int arrivedAtMembers,
            boolean isPerfect) {}

    private final SplittableRandom random;
    private final long seed;
    private final RunParameters parameters;
    private final VirtualNetwork network;
    private final MessageLedger ledger = new MessageLedger();
    private final List<UnreliableConnectionSide> connected = new ArrayList<>();
    private final List<DatagramSide> datagrams = new ArrayList<>();
    private final List<SimulatedGroup> groups = new ArrayList<>();
    private final List<UnreliableSide> sides = new ArrayList<>();
    private final boolean isFed;

    private UnreliableSimulation(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
        parameters = RunParameters.random(random, MAX_LOSS);
        network = new VirtualNetwork(random.nextLong(), parameters.faults());
        isFed = random.nextBoolean();
        ledger.watch(network);
    }

    /**
     * Does the run of a seed.
     *
     * @throws SimulationFailure if anything is not as it must be; the message names the seed
     */
    public static Result run(long seed) {
        UnreliableSimulation simulation = new UnreliableSimulation(seed);
        return NamedRun.of(
                seed,
                () -> simulation.parameters + ", at " + simulation.network.nowNanos() + " ns",
                List::of,
                simulation::run);
    }

    private Result run() {
        makeSides();
        long steps = 0;
        boolean goesOn = true;
        while (goesOn) {
            if (++steps > MAX_STEPS) {
                throw new SimulationFailure("not done after " + MAX_STEPS + " steps");
            }
            sides.forEach(UnreliableSide::work);
            boolean happened = network.step();
            goesOn = happened || sides.stream().anyMatch(side -> !side.isDone());
            if (!happened) {
                network.advanceTo(network.nowNanos() + 1_000);
            }
        }
        connected.forEach(UnreliableConnectionSide::checkEnd);
        datagrams.forEach(DatagramSide::checkEnd);
        NetworkFaults f = parameters.faults();
        boolean isPerfect = isFed && f.loss() + f.duplication() + f.reordering() + f.corruption() == 0;
        if (isPerfect) {
            ledger.checkAllArrivedInOrder();
            connected.forEach(UnreliableConnectionSide::checkTarget);
        }
        return new Result(
                seed,
                network.traceHash(),
                network.deliveredFrames(),
                network.lostFrames(),
                ledger.sent(),
                ledger.arrived(),
                ledger.arrivedAtMembers(),
                isPerfect);
    }

    private void makeSides() {
        List<SimulatedHost> hosts = new ArrayList<>();
        for (int i = 0; i < parameters.hosts(); i++) {
            hosts.add(network.addHost());
        }
        int perSide = parameters.operationsPerSide();
        int longest = Math.max(Integer.BYTES, parameters.maxMessageBytes());
        for (int i = 0; i < parameters.connections(); i++) {
            UnreliableConnectionSide a = connectedSide("connection " + i + " side a", hosts, longest, perSide);
            UnreliableConnectionSide b = connectedSide("connection " + i + " side b", hosts, longest, perSide);
            ConnectedSide.connect(a, b, random);
            connected.add(a);
            connected.add(b);
        }
        int count = parameters.connections() + 1;
        for (int i = random.nextInt(4); i > 0; i--) {
            groups.add(network.addGroup());
        }
        for (int i = 0; i < count; i++) {
            datagrams.add(new DatagramSide(
                    "datagrams " + i,
                    any(hosts),
                    ledger,
                    datagrams,
                    groups,
                    256 << random.nextInt(5),
                    perSide,
                    count * perSide,
                    isFed,
                    random.split()));
        }
        sides.addAll(connected);
        sides.addAll(datagrams);
    }

    private UnreliableConnectionSide connectedSide(String name, List<SimulatedHost> hosts, int longest, int messages) {
        return new UnreliableConnectionSide(
                name, any(hosts), ledger, longest, messages, messages, isFed, random.split());
    }

    private SimulatedHost any(List<SimulatedHost> hosts) {
        return hosts.get(random.nextInt(hosts.size()));
    }
}
