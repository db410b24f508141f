package io.rdma4j.simulator;

import io.rdma4j.simulator.network.NetworkFaults;
import io.rdma4j.simulator.network.SimulatedGroup;
import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.simulator.network.VirtualNetwork;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.RequestFilter;
import io.rdma4j.wire.cm.Req;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** One run of a cluster: the hosts, their work, the disruptions, and the final checks. */
final class ClusterRun {
    private static final int MAX_HOSTS = 8;
    private static final int MAX_CONNECTIONS = 6;
    private static final int BACKLOG = 16;
    private static final int SLOW_LINKS = 6;
    private static final double MAX_LOSS = 0.15;
    private static final int KEPT_ALIVE = 2;
    private static final long SHORTEST_KEEP_ALIVE_NANOS = 1_000_000;
    private static final int KEEP_ALIVE_DOUBLINGS = 7;
    private static final long MAX_STEPS = 2_000_000;

    /**
     * The time within which all work must end after the last disruption. It is long because the CM's timeouts are long.
     */
    private static final long MAX_NANOS_AFTER_CHAOS = 400_000_000_000L;

    private static final long SHORTEST_IDLE_NANOS = 1_000;
    private static final long LONGEST_IDLE_NANOS = 5_000_000;

    /** The longest idle time when all connections are over and only requests for services are repeated. */
    private static final long LONGEST_SERVICE_IDLE_NANOS = 1_000_000_000;

    private final long seed;
    private final SplittableRandom random;
    private final RunParameters parameters;
    private final StreamParameters streams;
    private final VirtualNetwork network;
    private final EventLog log;
    private final IdleWatches watches;
    private final List<SimulatedHost> hosts = new ArrayList<>();
    private final Map<SimulatedHost, ReceivePool> pools = new LinkedHashMap<>();
    private final List<ConnectionSequence> sequences = new ArrayList<>();
    private final Map<Integer, SimulatedConnection> attempts = new HashMap<>();
    private final MessageLedger ledger = new MessageLedger();
    private final List<DatagramSide> datagrams = new ArrayList<>();
    private final Chaos chaos;
    private final DatagramServices services;
    private final DatagramSockets sockets;
    private boolean isSlow;

    ClusterRun(long seed, EventLog log) {
        this.seed = seed;
        this.log = log;
        random = new SplittableRandom(seed);
        int[] sizes = {64, 600, 3_000, 12_000};
        parameters = new RunParameters(
                random.nextInt(2, MAX_HOSTS + 1),
                random.nextInt(1, MAX_CONNECTIONS + 1),
                random.nextInt(1, 16),
                sizes[random.nextInt(sizes.length)],
                random.nextInt(4) == 0,
                NetworkFaults.random(random, MAX_LOSS).withBursts(random));
        streams = StreamParameters.random(random, MAX_LOSS);
        network = new VirtualNetwork(random.nextLong(), parameters.faults());
        watches = new IdleWatches(network);
        network.observe((nanos, fate, frame) -> {
            log.onFrame(nanos, fate, frame);
            watches.onFrame(nanos, fate, frame);
        });
        ledger.watch(network);
        createHosts();
        if (random.nextInt(SLOW_LINKS) == 0) {
            slowDown();
        }
        chaos = new Chaos(random.split(), network, hosts, log, MAX_LOSS, this::onCrash, this::onRestart);
        createWork();
        services = new DatagramServices(network, hosts, log, ledger, this::mayBreak, random.split());
        sockets = new DatagramSockets(network, hosts, ledger, random.split());
    }

    private void createHosts() {
        for (int i = 0; i < parameters.hosts(); i++) {
            SimulatedHost host = network.addHost();
            hosts.add(host);
            start(host);
        }
    }

    /** Places a slow link, which loses the frames that exceed its buffer, before one host. */
    private void slowDown() {
        long bytesPerSecond = 1_000_000L << random.nextInt(10);
        SimulatedHost host = anyHost();
        network.slowDown(host, bytesPerSecond, random.nextLong(20_000, 200_000));
        log.note(0, Chaos.name(host) + " receives " + bytesPerSecond + " bytes per second");
        isSlow = true;
    }

    private void createWork() {
        SideKind[] kinds = SideKind.values();
        for (int i = 0; i < parameters.connections(); i++) {
            SideKind kind = kinds[random.nextInt(kinds.length)];
            sequences.add(new ConnectionSequence(this, kind, kind + " " + i, anyHost(), anyHost(), random.split()));
        }
        List<SimulatedGroup> groups = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            groups.add(network.addGroup());
        }
        int count = random.nextBoolean() ? 0 : random.nextInt(2, 4);
        int messages = parameters.operationsPerSide();
        for (int i = 0; i < count; i++) {
            datagrams.add(new DatagramSide(
                    "datagrams " + i,
                    anyHost(),
                    ledger,
                    datagrams,
                    groups,
                    256 << random.nextInt(5),
                    messages,
                    count * messages,
                    random.nextBoolean(),
                    random.split()));
        }
    }

    private SimulatedHost anyHost() {
        return hosts.get(random.nextInt(hosts.size()));
    }

    VirtualNetwork network() {
        return network;
    }

    EventLog log() {
        return log;
    }

    int nextAttemptNumber() {
        return attempts.size();
    }

    void register(int number, SimulatedConnection attempt) {
        attempts.put(number, attempt);
    }

    // ---- sides

    /** Creates one side of a connection. */
    ConnectedSide createSide(
            SideKind kind, boolean isActive, String name, SimulatedHost host, SplittableRandom sideRandom) {
        int maxBytes = parameters.maxMessageBytes();
        int operations = parameters.operationsPerSide();
        ReceivePool pool = pools.get(host);
        return switch (kind) {
            case RELIABLE -> {
                ReceivePool shared = sideRandom.nextBoolean() ? pool : null;
                SimulatedSide side = new SimulatedSide(
                        name, host, RcQueuePair.Role.CONNECTED, parameters, shared, this::mayBreak, sideRandom);
                if (sideRandom.nextInt(KEPT_ALIVE) == 0) {
                    side.keepAlive(watches, keepAliveNanos(sideRandom));
                }
                yield side;
            }
            case EXTENDED -> {
                RcQueuePair.Role role = isActive ? RcQueuePair.Role.INITIATOR : RcQueuePair.Role.TARGET;
                yield new SimulatedSide(
                        name, host, role, parameters, isActive ? null : pool, this::mayBreak, sideRandom);
            }
            case UNRELIABLE ->
                new UnreliableConnectionSide(
                        name,
                        host,
                        ledger,
                        Math.max(Integer.BYTES, maxBytes),
                        operations,
                        operations,
                        sideRandom.nextBoolean(),
                        sideRandom);
            case STREAM -> new StreamSide(name, host, streams, this::mayBreak, sideRandom);
        };
    }

    /** Returns a random interval of a keep-alive, short ones as likely as long ones. */
    private static long keepAliveNanos(SplittableRandom random) {
        return SHORTEST_KEEP_ALIVE_NANOS << random.nextInt(KEEP_ALIVE_DOUBLINGS);
    }

    /** Returns whether there is a reason for a reliable connection to break. */
    private boolean mayBreak() {
        return isSlow || parameters.faults().loses() || chaos.mayBreak();
    }

    /** Returns whether no frame is lost, corrupted or cut off, and no side breaks the rules. */
    boolean isPerfect() {
        return !isSlow && !parameters.faults().loses() && chaos.isQuiet() && !parameters.breaksRules();
    }

    // ---- crashes and restarts

    private void onCrash(SimulatedHost host) {
        sequences.forEach(sequence -> sequence.onCrash(host));
        for (DatagramSide side : datagrams) {
            if (side.host == host) {
                side.kill();
            }
        }
        pools.remove(host);
        services.onCrash(host);
        sockets.onCrash(host);
    }

    private void onRestart(SimulatedHost host) {
        start(host);
        services.onRestart(host);
        sockets.onRestart(host);
    }

    private void start(SimulatedHost host) {
        host.agent().listen(SimulatedConnection.SERVICE, (_, _) -> RequestFilter.Verdict.TAKE, BACKLOG, host);
        host.onCmEvent(this::onCmEvent);
        int receiveBytes = parameters.maxMessageBytes() + SideReceives.SLACK_BYTES;
        pools.put(host, new ReceivePool(host, receiveBytes, random.split()));
    }

    /** Passes each request to its connection, and each other event to the end of its connection. */
    private void onCmEvent(AgentEvent event) {
        if (event instanceof AgentEvent.Requested requested) {
            Req request = requested.connection().request();
            SimulatedConnection attempt = attempts.get(SimulatedConnection.number(request));
            if (attempt == null) {
                throw new SimulationFailure("a request that no host has sent: " + request);
            }
            attempt.onRequest(requested.connection(), request);
        } else if (event instanceof AgentEvent.OfConnection ofConnection
                && ofConnection.connection().attachment() instanceof ConnectionEnd end) {
            end.onEvent(ofConnection);
        } else {
            services.onEvent(event);
        }
    }

    // ---- the run

    Cluster.Result run() {
        long steps = 0;
        long idleNanos = SHORTEST_IDLE_NANOS;
        while (!isOver()) {
            checkProgress(++steps);
            chaos.apply(network.nowNanos());
            sequences.forEach(ConnectionSequence::work);
            for (DatagramSide side : datagrams) {
                if (!side.host.isPaused()) {
                    side.work();
                }
            }
            services.work();
            sockets.work();
            long limit = Math.min(network.nowNanos() + idleNanos, chaos.nextNanos());
            idleNanos = network.step(limit) ? SHORTEST_IDLE_NANOS : Math.min(2 * idleNanos, longestIdleNanos());
        }
        network.faults(NetworkFaults.NONE);
        sockets.checkAllReached();
        checkEnd();
        return new Cluster.Result(
                seed,
                network.traceHash() * 31 + network.nowNanos(),
                hosts.size(),
                network.deliveredFrames(),
                network.lostFrames(),
                network.nowNanos(),
                sequences.stream().mapToInt(ConnectionSequence::attempted).sum(),
                sequences.stream().mapToInt(ConnectionSequence::completed).sum(),
                services.resolved(),
                watches.givenUp(),
                sockets.arrived());
    }

    private boolean areSequencesOver() {
        for (ConnectionSequence sequence : sequences) {
            if (!sequence.isOver()) {
                return false;
            }
        }
        return true;
    }

    private long longestIdleNanos() {
        return areSequencesOver() ? LONGEST_SERVICE_IDLE_NANOS : LONGEST_IDLE_NANOS;
    }

    private boolean isOver() {
        return chaos.nextNanos() == Long.MAX_VALUE
                && areSequencesOver()
                && services.isOver()
                && sockets.isOver()
                && datagrams.stream().allMatch(UnreliableSide::isDone)
                && network.isQuiet();
    }

    private void checkProgress(long steps) {
        boolean isLate = network.nowNanos() > chaos.endNanos() + MAX_NANOS_AFTER_CHAOS;
        if (isLate || steps > MAX_STEPS) {
            throw new SimulationFailure("something is stuck after " + steps + " steps: "
                    + sequences.stream()
                            .map(ConnectionSequence::unfinished)
                            .filter(each -> each != null)
                            .toList()
                    + services.unfinished());
        }
    }

    private void checkEnd() {
        sequences.forEach(ConnectionSequence::checkEnd);
        datagrams.forEach(DatagramSide::checkEnd);
        boolean isLossless = !isSlow && !parameters.faults().loses() && chaos.isQuiet();
        services.checkEnd(isLossless);
        sockets.checkEnd(isLossless && parameters.faults().reordering() == 0);
        pools.values().forEach(ReceivePool::checkEnd);
        for (SimulatedHost host : hosts) {
            if (!host.isEmpty()) {
                throw new SimulationFailure(Chaos.name(host) + " has something left: " + host.contents());
            }
        }
    }

    /** Describes the run, for messages. */
    String description() {
        return parameters + ", at " + network.nowNanos() + " ns";
    }
}
