package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.NetworkFaults;
import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.testkit.VirtualNetwork;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * What befalls hosts and the ways between them in a run, drawn in advance: partitions of both directions and of one, pauses,
 * crashes and restarts, and a network that changes for the worse or the better.
 */
final class Chaos {
    /** Pauses that no retry outlasts: the shortest time-out, eight times, is a little longer. */
    private static final long HARMLESS_PAUSE_NANOS = 10_000_000;

    private static final long SHORTEST_NANOS = 50_000;
    private static final long LATEST_NANOS = 300_000_000;
    private static final long LONGEST_NANOS = 3_000_000_000L;

    /** Something that happens at a time; {@code order} makes equal times deterministic. */
    private record Blow(long atNanos, int order, String name, Runnable action) {}

    private final SplittableRandom random;
    private final VirtualNetwork network;
    private final List<SimulatedHost> hosts;
    private final EventLog log;
    private final List<Blow> blows = new ArrayList<>();
    private int next;
    private boolean mayBreak;
    private final boolean isQuiet;

    /**
     * Draws what happens.
     *
     * @param maxLoss most loss that a network may have
     * @param onCrash told of a host before it crashes
     * @param onRestart told of a host when it runs again
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
        blows.sort(Comparator.comparingLong(Blow::atNanos).thenComparingInt(Blow::order));
    }

    private void partition() {
        SimulatedHost from = any();
        SimulatedHost to = any();
        boolean bothWays = random.nextBoolean();
        long begin = time(LATEST_NANOS);
        String ways = name(from) + (bothWays ? " and " : " to ") + name(to);
        mayBreak = true;
        add(begin, "cut " + ways, () -> {
            network.cut(from, to);
            if (bothWays) {
                network.cut(to, from);
            }
        });
        add(begin + time(LONGEST_NANOS), "heal " + ways, () -> {
            network.heal(from, to);
            if (bothWays) {
                network.heal(to, from);
            }
        });
    }

    private void pause() {
        SimulatedHost host = any();
        long begin = time(LATEST_NANOS);
        long nanos = random.nextBoolean() ? time(HARMLESS_PAUSE_NANOS) : time(LONGEST_NANOS);
        mayBreak |= nanos >= HARMLESS_PAUSE_NANOS;
        add(begin, "pause " + name(host), () -> {
            if (host.isUp()) {
                host.pause();
            }
        });
        add(begin + nanos, "resume " + name(host), host::resume);
    }

    private void crash(Consumer<SimulatedHost> onCrash, Consumer<SimulatedHost> onRestart) {
        SimulatedHost host = any();
        long begin = time(LATEST_NANOS);
        mayBreak = true;
        add(begin, "crash " + name(host), () -> {
            if (host.isUp()) {
                onCrash.accept(host);
                host.crash();
            }
        });
        if (random.nextInt(3) != 0) {
            add(begin + time(LONGEST_NANOS), "restart " + name(host), () -> {
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
        add(time(LATEST_NANOS), "network with " + faults, () -> network.faults(faults));
    }

    private SimulatedHost any() {
        return hosts.get(random.nextInt(hosts.size()));
    }

    /** Short times are as likely as long ones. */
    private long time(long mostNanos) {
        double exponent = random.nextDouble();
        return (long) (SHORTEST_NANOS * Math.pow((double) mostNanos / SHORTEST_NANOS, exponent));
    }

    private void add(long atNanos, String name, Runnable action) {
        blows.add(new Blow(atNanos, blows.size(), name, action));
    }

    /** Does what is due. */
    void apply(long nowNanos) {
        while (next < blows.size() && blows.get(next).atNanos <= nowNanos) {
            Blow blow = blows.get(next++);
            log.note(nowNanos, blow.name);
            blow.action.run();
        }
    }

    /** When something happens next; {@link Long#MAX_VALUE} if nothing does. */
    long nextNanos() {
        return next < blows.size() ? blows.get(next).atNanos : Long.MAX_VALUE;
    }

    /** When all has happened. */
    long endNanos() {
        return blows.isEmpty() ? 0 : blows.getLast().atNanos;
    }

    /** Whether it is a reason for a connection to break. */
    boolean mayBreak() {
        return mayBreak;
    }

    /** Whether nothing happens. */
    boolean isQuiet() {
        return isQuiet;
    }

    /** A host's name in messages. */
    static String name(SimulatedHost host) {
        long address = host.addressLow();
        return "10.%d.%d.%d".formatted(address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff);
    }
}
