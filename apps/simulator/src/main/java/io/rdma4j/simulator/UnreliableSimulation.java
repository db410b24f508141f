package io.rdma4j.simulator;

import io.rdma4j.simulator.network.NetworkFaults;
import io.rdma4j.simulator.network.SimulatedGroup;
import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.simulator.network.VirtualNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Seeded runs of random messages over unreliable connections, and of datagrams, also to multicast groups, over lossy
 * virtual networks.
 *
 * <p>Each run draws hosts, queue pairs, groups and their members, path MTUs, queue sizes, keys, faults and messages
 * from its seed. A message that arrives must be one that was sent to the receiver, complete, and in a posted receive.
 * No message may arrive twice unless the network has duplicated it. Every send must complete. Over a network without
 * faults, with a receive for each message, all messages must arrive in order.
 *
 * <p>Equal seeds give equal runs, frame by frame: see {@link Result#traceHash}.
 */
public final class UnreliableSimulation {
    private static final long MAX_STEPS = 1_000_000;
    private static final double MAX_LOSS = 0.3;

    /**
     * The result of a run.
     *
     * @param seed the seed
     * @param traceHash a hash of every delivered frame and its time
     * @param deliveredFrames number of frames delivered
     * @param lostFrames number of frames lost
     * @param sentMessages number of messages sent
     * @param arrivedMessages number of messages that arrived
     * @param arrivedAtMembers number of those that were sent to a group
     * @param isPerfect true if all messages had to arrive
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
    private final boolean alwaysHasReceives;

    private UnreliableSimulation(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
        parameters = RunParameters.random(random, MAX_LOSS);
        network = new VirtualNetwork(random.nextLong(), parameters.faults());
        alwaysHasReceives = random.nextBoolean();
        ledger.watch(network);
    }

    /**
     * Runs a seed.
     *
     * @throws SimulationFailure if a check fails; the message names the seed
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
        createSides();
        long steps = 0;
        boolean continues = true;
        while (continues) {
            if (++steps > MAX_STEPS) {
                throw new SimulationFailure("not done after " + MAX_STEPS + " steps");
            }
            sides.forEach(UnreliableSide::work);
            boolean progressed = network.step();
            continues = progressed || sides.stream().anyMatch(side -> !side.isDone());
            if (!progressed) {
                network.advanceTo(network.nowNanos() + 1_000);
            }
        }
        connected.forEach(UnreliableConnectionSide::checkEnd);
        datagrams.forEach(DatagramSide::checkEnd);
        NetworkFaults f = parameters.faults();
        boolean isPerfect = alwaysHasReceives && f.loss() + f.duplication() + f.reordering() + f.corruption() == 0;
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

    private void createSides() {
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
                    randomHost(hosts),
                    ledger,
                    datagrams,
                    groups,
                    256 << random.nextInt(5),
                    perSide,
                    count * perSide,
                    alwaysHasReceives,
                    random.split()));
        }
        sides.addAll(connected);
        sides.addAll(datagrams);
    }

    private UnreliableConnectionSide connectedSide(String name, List<SimulatedHost> hosts, int longest, int messages) {
        return new UnreliableConnectionSide(
                name, randomHost(hosts), ledger, longest, messages, messages, alwaysHasReceives, random.split());
    }

    private SimulatedHost randomHost(List<SimulatedHost> hosts) {
        return hosts.get(random.nextInt(hosts.size()));
    }
}
