package io.rdma4j.simulator;

import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConfiguration;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.CmState;
import io.rdma4j.transport.cm.RequestFilter;
import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Seeded runs of connection managers that set up and end connections over a faulty network.
 *
 * <p>The network loses, duplicates and reorders messages. Each connection must be requested once, established once at
 * both ends, and ended once. No end may release its queue pair number before late packets have expired. At the end no
 * state may be left.
 */
public final class HandshakeSimulation {
    private static final long SERVICE = 0x0000_0000_0106_1c06L;
    private static final long MILLISECOND = 1_000_000;
    private static final long SECOND = 1_000 * MILLISECOND;

    /** The minimum duration of time-wait for the packet life time of these requests, computed as in Linux. */
    private static final long TIMEWAIT_NANOS = 2_048 * MILLISECOND;

    private static final int PACKET_LIFE_TIME = 19;
    private static final double MAX_LOSS = 0.3;
    private static final int MAX_LOST_IN_A_ROW = 4;

    private record InFlight(long arrivalNanos, long order, Host to, Gid from, MemorySegment mad) {}

    private final SplittableRandom random;
    private final PriorityQueue<InFlight> inFlight =
            new PriorityQueue<>(Comparator.comparingLong(InFlight::arrivalNanos).thenComparingLong(InFlight::order));
    private final Host client = new Host(1);
    private final Host server = new Host(2);
    private final double loss;
    private final double duplication;
    private final int rejecting;

    /** True if applications close some connections as soon as they are established. */
    private final boolean closesEarly;

    /** For each message, the number of copies lost since one arrived. */
    private final Map<Long, Integer> lostInARow = new HashMap<>();

    private long now = 1_000 * SECOND;
    private long order;

    private HandshakeSimulation(long seed) {
        random = new SplittableRandom(seed);
        loss = random.nextInt(4) == 0 ? 0 : random.nextDouble() * MAX_LOSS;
        duplication = random.nextDouble() * 0.3;
        rejecting = random.nextInt(4) == 0 ? 2 : 0;
        closesEarly = random.nextInt(3) == 0;
    }

    /**
     * Runs a seed.
     *
     * @throws SimulationFailure if a check fails; the message names the seed
     */
    public static void run(long seed) {
        HandshakeSimulation simulation = new HandshakeSimulation(seed);
        try {
            simulation.run();
        } catch (SimulationFailure failure) {
            throw new SimulationFailure("handshakes with seed " + seed + ": " + failure.getMessage(), failure);
        }
    }

    private void run() {
        server.agent.listen(SERVICE, (_, _) -> RequestFilter.Verdict.TAKE, 32, server);
        int count = random.nextInt(1, 8);
        for (int i = 0; i < count; i++) {
            client.connect(server);
            advance(random.nextLong(3 * SECOND));
        }
        advance(90 * SECOND);
        for (CmConnection each : client.connections) {
            boolean mayBeIdle = rejecting > 0 || closesEarly;
            check(
                    mayBeIdle && each.state() == CmState.IDLE || each.state() == CmState.ESTABLISHED,
                    "after 90 seconds a connection is " + each);
        }
        check(
                server.requests == count
                        || rejecting > 0 && server.requests > count, // if a REJ is lost, the request is repeated
                count + " connections were requested, " + server.requests + " requests arrived");
        check(
                client.readyToUse == server.readyToUse,
                client.readyToUse + " established at the client, " + server.readyToUse + " at the server");
        List<CmConnection> both = new ArrayList<>(client.connections);
        both.addAll(server.connections);
        for (CmConnection each : both) {
            if (each.state() == CmState.ESTABLISHED && random.nextInt(3) > 0) {
                close(each);
            }
        }
        client.closeAll();
        advance(400 * SECOND);
        client.checkEnd();
        server.checkEnd();
    }

    /** Closes a connection: disconnects it, disconnects and destroys it, or only destroys it. */
    private void close(CmConnection connection) {
        Host owner = client.connections.contains(connection) ? client : server;
        int how = random.nextInt(3);
        if (how < 2) {
            connection.disconnect(now);
        }
        if (how > 0) {
            owner.end(connection);
            connection.destroy(now);
        }
    }

    /** Advances the virtual time. */
    private void advance(long nanos) {
        long end = now + nanos;
        send();
        while (true) {
            long next = Math.min(client.agent.nextDeadlineNanos(), server.agent.nextDeadlineNanos());
            next = Math.min(next, inFlight.isEmpty() ? Long.MAX_VALUE : inFlight.element().arrivalNanos);
            if (next > end) {
                now = end;
                return;
            }
            now = Math.max(now, next);
            check(order < 100_000, "the hosts do not stop sending");
            while (!inFlight.isEmpty() && inFlight.element().arrivalNanos <= now) {
                deliver(inFlight.remove());
            }
            client.onDeadline();
            server.onDeadline();
            send();
        }
    }

    private void send() {
        for (Host host : List.of(client, server)) {
            CmDatagram out = host.agent.pollTransmit();
            while (out != null) {
                Host to = host == client ? server : client;
                int copies = isLost(out) ? 0 : random.nextDouble() < duplication ? 2 : 1;
                for (int i = 0; i < copies; i++) {
                    long arrival = now + MILLISECOND + random.nextLong(20 * MILLISECOND);
                    inFlight.add(new InFlight(arrival, order++, to, host.address, out.mad()));
                }
                out = host.agent.pollTransmit();
            }
        }
    }

    /**
     * Decides at random whether a message is lost.
     *
     * <p>The number of consecutive losses is smaller than the number of transmissions of the message that is repeated
     * least: the DREQ of a connection without an owner.
     */
    private boolean isLost(CmDatagram out) {
        long message = CmMad.transactionId(out.mad(), 0) << 8
                | Objects.requireNonNull(CmMad.attribute(out.mad(), 0)).id();
        int inARow = lostInARow.getOrDefault(message, 0);
        boolean isLost = random.nextDouble() < loss && inARow < MAX_LOST_IN_A_ROW;
        lostInARow.put(message, isLost ? inARow + 1 : 0);
        return isLost;
    }

    private void deliver(InFlight f) {
        f.to.agent.onMad(now, new CmDatagram(new CmRoute(f.to.address, f.from, 0), 0, f.mad));
        f.to.handleEvents();
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(message);
        }
    }

    /** A host: its CM agent, and an application that replies immediately. */
    private final class Host {
        final Gid address;
        final CmAgent agent;
        final List<CmConnection> connections = new ArrayList<>();
        int requests;
        int readyToUse;
        private final Set<Integer> ended = new HashSet<>();
        private final Set<Integer> rejected = new HashSet<>();
        private final Map<Integer, Long> endNanos = new HashMap<>();
        private int nextQueuePair = 0x100;

        Host(int number) {
            address = Gid.ofIpv4(0x0a00_0000 | number);
            SplittableRandom ids = new SplittableRandom(number);
            agent = new CmAgent(CmConfiguration.of(0x5054_00ff_fe88_0000L | number, ids::nextInt));
        }

        void connect(Host to) {
            connections.add(agent.connect(
                    now,
                    Req.builder()
                            .serviceId(SERVICE)
                            .localQueuePair(nextQueuePair++)
                            .startingPsn(0x123)
                            .maxCmRetries(15)
                            .primaryPath(CmPath.roce(address, to.address, 0, 0, 64, PACKET_LIFE_TIME))
                            .privateData(PrivateData.EMPTY),
                    0,
                    this));
        }

        void closeAll() {
            for (CmConnection each : connections) {
                if (each.state() == CmState.ESTABLISHED) {
                    close(each);
                }
            }
        }

        void onDeadline() {
            agent.onDeadline(now);
            handleEvents();
        }

        void handleEvents() {
            AgentEvent event = agent.pollEvent();
            while (event != null) {
                handle(event);
                event = agent.pollEvent();
            }
        }

        private void handle(AgentEvent event) {
            switch (event) {
                case AgentEvent.Requested requested -> onRequest(requested.connection());
                case AgentEvent.Replied replied -> {
                    readyToUse++;
                    replied.connection().sendReadyToUse(now);
                    maybeCloseEarly(replied.connection());
                }
                case AgentEvent.ReadyToUse ready -> {
                    readyToUse++;
                    maybeCloseEarly(ready.connection());
                }
                case AgentEvent.Rejected rejected -> onReject(rejected.connection(), rejected.reject());
                case AgentEvent.Discarded discarded -> discarded.connection().destroy(now);
                case AgentEvent.Unreachable unreachable ->
                    throw new SimulationFailure("unreachable: " + unreachable.connection());
                case AgentEvent.DisconnectRequested requested -> {
                    requested.connection().disconnect(now);
                    end(requested.connection());
                }
                case AgentEvent.Disconnected disconnected -> {
                    CmConnection connection = disconnected.connection();
                    check(!disconnected.timedOut(), "no reply to the disconnect request of " + connection);
                    end(connection);
                }
                case AgentEvent.TimewaitExit exit -> onTimewaitExit(exit.connection());
                case AgentEvent.Opened _, AgentEvent.Closed _ -> {}
                case AgentEvent.ServiceRequested _, AgentEvent.OfResolution _ ->
                    throw new SimulationFailure("no datagram service is used: " + event);
            }
        }

        private void onRequest(CmConnection connection) {
            requests++;
            connections.add(connection);
            if (rejecting > 0 && requests % rejecting == 0) {
                connection.reject(now, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            } else {
                connection.accept(
                        now,
                        Rep.builder()
                                .localQueuePair(nextQueuePair++)
                                .startingPsn(0x456)
                                .responderResources(1)
                                .initiatorDepth(1)
                                .targetAcknowledgeDelay(15)
                                .build());
            }
        }

        private void maybeCloseEarly(CmConnection connection) {
            if (closesEarly && random.nextBoolean()) {
                close(connection);
            }
        }

        private void onReject(CmConnection connection, Rej reject) {
            check(rejecting > 0, "rejected with reason " + reject.reason() + ": " + connection);
            check(rejected.add(connection.localId()), "rejected twice: " + connection);
        }

        private void end(CmConnection connection) {
            check(ended.add(connection.localId()), "ended twice: " + connection);
            endNanos.put(connection.localId(), now);
        }

        private void onTimewaitExit(CmConnection connection) {
            Long since = endNanos.get(connection.localId());
            check(since != null, "a time-wait without an end: " + connection);
            check(
                    since != null && now - since >= TIMEWAIT_NANOS,
                    "a queue pair number is released after " + (now - (since == null ? now : since)) + " ns");
        }

        void checkEnd() {
            check(
                    agent.connectionCount() == 0,
                    agent.connectionCount() + " connections are left over at " + address.addressText());
            check(
                    agent.halfOpenCount() == 0,
                    agent.halfOpenCount() + " connections are half open at " + address.addressText());
            check(agent.nextDeadlineNanos() == Long.MAX_VALUE, "a deadline is left over at " + address.addressText());
            check(
                    ended.size() == readyToUse,
                    readyToUse + " were established, " + ended.size() + " ended at " + address);
        }
    }
}
