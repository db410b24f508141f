package io.rdma4j.transport.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An agent with its applications, which record the events that they receive. */
final class CmHost {
    static final long SERVICE = 0x0000_0000_0106_1c06L;

    final CmFabric fabric;
    final Gid address;
    final CmAgent agent;
    final List<String> events = new ArrayList<>();
    final List<CmConnection> connections = new ArrayList<>();
    final List<CmConnection> requested = new ArrayList<>();

    /** The connections that another process would have to disconnect, by communication ID. */
    final Map<Integer, CmConnection> open = new LinkedHashMap<>();

    /** True if the applications accept requests. */
    boolean accepts = true;

    boolean confirms = true;
    boolean disconnects = true;
    boolean matchesRequests = true;
    boolean dropsRequests;

    /** Called when a passive connection is established. */
    Consumer<CmConnection> onReady = connection -> {};

    /** True if {@link #connect} creates extended connections. */
    boolean extended;

    @Nullable
    Rej lastReject;

    /** Delay before the applications respond to an event. */
    long responseDelayNanos;

    int maxCmRetries = 15;

    private final TreeMap<Long, List<Runnable>> scheduled = new TreeMap<>();
    private final Random random;
    private int nextQueuePair = 0x100;

    CmHost(CmFabric fabric, int number) {
        this(fabric, number, CmConfiguration.DEFAULT_FIRST_RETRANSMIT_NANOS);
    }

    CmHost(CmFabric fabric, int number, long firstRetransmitNanos) {
        this.fabric = fabric;
        this.address = Gid.ofIpv4(0x0a58_0000 | number);
        this.random = new Random(number);
        this.agent = new CmAgent(
                new CmConfiguration(0x5054_00ff_fe88_0000L | number, random::nextInt, 64, false, firstRetransmitNanos));
        fabric.add(this);
    }

    ListenedService<Req> listen() {
        return listen(agent, SERVICE, 16);
    }

    ListenedService<Req> listen(CmAgent of, long serviceId, int backlog) {
        return of.listen(serviceId, this::verdict, backlog, this);
    }

    CmConnection connect(CmHost to) {
        return connect(to, nextQueuePair++);
    }

    CmConnection connect(CmHost to, int queuePair) {
        ReqBuilder request = Req.builder()
                .serviceId(SERVICE)
                .localQueuePair(queuePair)
                .startingPsn(0x123)
                .maxCmRetries(maxCmRetries)
                .primaryPath(CmPath.roce(address, to.address, 0, 0, 64, 19))
                .privateData(PrivateData.of((byte) 1, (byte) 2));
        CmConnection connection = agent.connect(fabric.now, extended ? request.extended() : request, 0, this);
        connections.add(connection);
        return connection;
    }

    static Rep reply(int queuePair) {
        return Rep.builder()
                .localQueuePair(queuePair)
                .startingPsn(0x456)
                .responderResources(1)
                .initiatorDepth(1)
                .targetAcknowledgeDelay(15)
                .privateData(PrivateData.of((byte) 3))
                .build();
    }

    int newQueuePair() {
        return nextQueuePair++;
    }

    // ------------------------------------------------------------------------------------------- delayed responses

    private void afterDelay(Runnable action) {
        if (responseDelayNanos == 0) {
            action.run();
        } else {
            at(fabric.now + responseDelayNanos, action);
        }
    }

    void at(long time, Runnable action) {
        scheduled.computeIfAbsent(time, t -> new ArrayList<>()).add(action);
    }

    long nextNanos() {
        return Math.min(agent.nextDeadlineNanos(), scheduled.isEmpty() ? Long.MAX_VALUE : scheduled.firstKey());
    }

    void runDue() {
        agent.onDeadline(fabric.now);
        handleEvents();
        while (!scheduled.isEmpty() && scheduled.firstKey() <= fabric.now) {
            scheduled.pollFirstEntry().getValue().forEach(Runnable::run);
        }
    }

    // ------------------------------------------------------------------------------------------------------ events

    private RequestFilter.Verdict verdict(CmRoute route, Req request) {
        if (!matchesRequests) {
            return RequestFilter.Verdict.DECLINE;
        }
        return dropsRequests ? RequestFilter.Verdict.DROP : RequestFilter.Verdict.TAKE;
    }

    void handleEvents() {
        handleEvents(agent);
    }

    void handleEvents(CmAgent of) {
        AgentEvent event = of.pollEvent();
        while (event != null) {
            handle(event);
            event = of.pollEvent();
        }
    }

    private void handle(AgentEvent event) {
        switch (event) {
            case AgentEvent.Requested requested -> {
                assertThat(requested.service().attachment()).isSameAs(this);
                onRequest(requested.connection(), requested.connection().request());
            }
            case AgentEvent.Replied replied -> onReply(replied.connection());
            case AgentEvent.ReadyToUse ready -> {
                events.add("ready");
                onReady.accept(ready.connection());
            }
            case AgentEvent.Rejected rejected -> {
                events.add("reject " + rejected.reject().reason());
                lastReject = rejected.reject();
            }
            case AgentEvent.Discarded discarded -> {
                events.add("discarded");
                assertThat(discarded.connection().destroy(fabric.now)).isTrue();
            }
            case AgentEvent.Unreachable _ -> events.add("unreachable");
            case AgentEvent.DisconnectRequested requested -> onDisconnectRequest(requested.connection());
            case AgentEvent.Disconnected disconnected ->
                events.add(disconnected.timedOut() ? "disconnect timeout" : "disconnected");
            case AgentEvent.TimewaitExit _ -> events.add("timewait exit");
            case AgentEvent.Opened opened -> {
                CmConnection connection = opened.connection();
                assertThat(open.put(connection.localId(), connection)).isNull();
            }
            case AgentEvent.Closed closed -> {
                CmConnection connection = closed.connection();
                assertThat(open.remove(connection.localId())).isSameAs(connection);
            }
            case AgentEvent.ServiceRequested _, AgentEvent.OfResolution _ ->
                throw new AssertionError("no datagram service is used: " + event);
        }
    }

    private void onRequest(CmConnection connection, Req request) {
        events.add("request");
        connections.add(connection);
        requested.add(connection);
        if (accepts) {
            afterDelay(() -> {
                if (connection.state() == CmState.REQ_RECEIVED || connection.state() == CmState.MRA_REQ_SENT) {
                    Rep reply = reply(newQueuePair());
                    connection.accept(fabric.now, request.isExtended() ? reply.extended() : reply);
                }
            });
        }
    }

    private void onReply(CmConnection connection) {
        events.add("reply");
        if (confirms) {
            afterDelay(() -> {
                if (connection.state() == CmState.REP_RECEIVED || connection.state() == CmState.MRA_REP_SENT) {
                    connection.sendReadyToUse(fabric.now);
                }
            });
        }
    }

    private void onDisconnectRequest(CmConnection connection) {
        events.add("disconnect request");
        if (disconnects) {
            afterDelay(() -> {
                if (connection.state() == CmState.DREQ_RECEIVED) {
                    connection.disconnect(fabric.now);
                }
            });
        }
    }

    void assertNothingLeft() {
        assertThat(agent.connectionCount()).as("connections of %s", address).isZero();
        assertThat(agent.table.isEmpty()).as("tables of %s are empty", address).isTrue();
        assertThat(agent.deadlines.size()).as("deadlines of %s", address).isZero();
        assertThat(agent.halfOpenCount()).as("half open at %s", address).isZero();
        assertThat(agent.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(agent.pollTransmit()).isNull();
        assertThat(agent.pollEvent()).isNull();
        for (ListenedService<Req> listening : agent.listeners.of(SERVICE)) {
            assertThat(listening.waiting()).as("backlog of %s", address).isZero();
        }
    }
}
