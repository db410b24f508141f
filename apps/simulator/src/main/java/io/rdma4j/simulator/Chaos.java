package io.rdma4j.simulator;

import io.rdma4j.simulator.network.NetworkFaults;
import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.simulator.network.VirtualNetwork;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * The disruptions of a run, drawn in advance.
 *
 * <p>They are partitions in one or both directions, pauses, crashes and restarts of hosts, and changes of the network's
 * faults.
 */
final class Chaos {
    /** Shorter pauses break no connection: eight times the shortest timeout is a little longer. */
    private static final long HARMLESS_PAUSE_NANOS = 10_000_000;

    private static final long SHORTEST_NANOS = 50_000;
    private static final long LATEST_NANOS = 300_000_000;
    private static final long LONGEST_NANOS = 3_000_000_000L;

    /** A disruption and its time; {@code order} makes the order of equal times deterministic. */
    private record Disruption(long atNanos, int order, String name, Runnable action) {}

    private final SplittableRandom random;
    private final VirtualNetwork network;
    private final List<SimulatedHost> hosts;
    private final EventLog log;
    private final List<Disruption> disruptions = new ArrayList<>();
    private int next;
    private boolean mayBreak;
    private final boolean isQuiet;

    /**
     * Draws the disruptions.
     *
     * @param maxLoss upper limit of the network's loss
     * @param onCrash called with a host before it crashes
     * @param onRestart called with a host after it has restarted
     */
    Chaos(
            SplittableRandom random,
            VirtualNetwork network,
            List<SimulatedHost> hosts,
            EventLog log,
            double maxLoss,
            Consumer<SimulatedHost> onCrash,
            Consumer<SimulatedHost> onRestart) {
        this.random = random;
        this.network = network;
        this.hosts = hosts;
        this.log = log;
        isQuiet = random.nextInt(4) == 0;
        for (int i = isQuiet ? 0 : random.nextInt(1, 6); i > 0; i--) {
            switch (random.nextInt(8)) {
                case 0, 1 -> partition();
                case 2, 3, 4 -> pause();
                case 5 -> crash(onCrash, onRestart);
                default -> change(maxLoss);
            }
        }
        disruptions.sort(Comparator.comparingLong(Disruption::atNanos).thenComparingInt(Disruption::order));
    }

    private void partition() {
        SimulatedHost from = randomHost();
        SimulatedHost to = randomHost();
        boolean bothDirections = random.nextBoolean();
        long begin = randomNanos(LATEST_NANOS);
        String path = name(from) + (bothDirections ? " and " : " to ") + name(to);
        mayBreak = true;
        add(begin, "cut " + path, () -> {
            network.cut(from, to);
            if (bothDirections) {
                network.cut(to, from);
            }
        });
        add(begin + randomNanos(LONGEST_NANOS), "heal " + path, () -> {
            network.heal(from, to);
            if (bothDirections) {
                network.heal(to, from);
            }
        });
    }

    private void pause() {
        SimulatedHost host = randomHost();
        long begin = randomNanos(LATEST_NANOS);
        long nanos = random.nextBoolean() ? randomNanos(HARMLESS_PAUSE_NANOS) : randomNanos(LONGEST_NANOS);
        mayBreak |= nanos >= HARMLESS_PAUSE_NANOS;
        add(begin, "pause " + name(host), () -> {
            if (host.isUp()) {
                host.pause();
            }
        });
        add(begin + nanos, "resume " + name(host), host::resume);
    }

    private void crash(Consumer<SimulatedHost> onCrash, Consumer<SimulatedHost> onRestart) {
        SimulatedHost host = randomHost();
        long begin = randomNanos(LATEST_NANOS);
        mayBreak = true;
        add(begin, "crash " + name(host), () -> {
            if (host.isUp()) {
                onCrash.accept(host);
                host.crash();
            }
        });
        if (random.nextInt(3) != 0) {
            add(begin + randomNanos(LONGEST_NANOS), "restart " + name(host), () -> {
                if (!host.isUp()) {
                    host.restart();
                    onRestart.accept(host);
                }
            });
        }
    }

    private void change(double maxLoss) {
        NetworkFaults faults = NetworkFaults.random(random, maxLoss).withBursts(random);
        mayBreak |= faults.loses();
        add(randomNanos(LATEST_NANOS), "network with " + faults, () -> network.faults(faults));
    }

    private SimulatedHost randomHost() {
        return hosts.get(random.nextInt(hosts.size()));
    }

    /** Returns a random time with a logarithmic distribution: short times are as likely as long ones. */
    private long randomNanos(long maxNanos) {
        double exponent = random.nextDouble();
        return (long) (SHORTEST_NANOS * Math.pow((double) maxNanos / SHORTEST_NANOS, exponent));
    }

    private void add(long atNanos, String name, Runnable action) {
        disruptions.add(new Disruption(atNanos, disruptions.size(), name, action));
    }

    /** Applies the disruptions that are due. */
    void apply(long nowNanos) {
        while (next < disruptions.size() && disruptions.get(next).atNanos <= nowNanos) {
            Disruption disruption = disruptions.get(next++);
            log.note(nowNanos, disruption.name);
            disruption.action.run();
        }
    }

    /** Returns the time of the next disruption, or {@link Long#MAX_VALUE} if there is none. */
    long nextNanos() {
        return next < disruptions.size() ? disruptions.get(next).atNanos : Long.MAX_VALUE;
    }

    /** Returns the time of the last disruption. */
    long endNanos() {
        return disruptions.isEmpty() ? 0 : disruptions.getLast().atNanos;
    }

    /** Returns whether the disruptions may break a connection. */
    boolean mayBreak() {
        return mayBreak;
    }

    /** Returns whether there are no disruptions. */
    boolean isQuiet() {
        return isQuiet;
    }

    /** Returns a host's name for messages. */
    static String name(SimulatedHost host) {
        long address = host.addressLow();
        return "10.%d.%d.%d".formatted(address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff);
    }
}
