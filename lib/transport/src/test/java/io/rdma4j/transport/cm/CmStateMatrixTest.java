package io.rdma4j.transport.cm;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** All messages of a peer, and all calls of the application, in each state of a connection. */
class CmStateMatrixTest {
    private static final Gid PEER = Gid.ofIpv4(0x0a58_0002);
    private static final int PEER_ID = 0x7777;
    private static final int PEER_QUEUE_PAIR = 0x66;
    private static final int OUR_QUEUE_PAIR = 0x44;
    private static final long PEER_GUID = 77;

    private final CmFabric fabric = new CmFabric();
    private final CmHost host = new CmHost(fabric, 1);

    /** Returns a connection in a state; "_ACTIVE" and "_PASSIVE" name the side for states that both sides have. */
    private CmConnection connectionIn(String state) {
        host.accepts = false;
        host.confirms = false;
        host.disconnects = false;
        CmConnection connection = switch (state) {
            case "REQ_SENT", "MRA_REQ_RECEIVED", "MRA_REP_SENT", "ESTABLISHED_ACTIVE" -> connect();
            default -> request();
        };
        switch (state) {
            case "REQ_SENT", "MRA_REQ_SENT" -> {}
            case "MRA_REQ_RECEIVED" -> deliver("MRA_REQ", connection);
            case "MRA_REP_SENT" -> deliver("REP", connection);
            case "ESTABLISHED_ACTIVE" -> {
                deliver("REP", connection);
                connection.sendReadyToUse(fabric.now);
            }
            default -> advancePassive(state, connection);
        }
        fabric.flush();
        fabric.log.clear();
        host.events.clear();
        String expected = state.replace("_ACTIVE", "").replace("_PASSIVE", "");
        assertThat(connection.state().name()).isEqualTo(expected);
        return connection;
    }

    private void advancePassive(String state, CmConnection connection) {
        if (state.equals("IDLE")) {
            connection.reject(fabric.now, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            return;
        }
        connection.accept(fabric.now, CmHost.reply(OUR_QUEUE_PAIR));
        switch (state) {
            case "REP_SENT" -> {}
            case "MRA_REP_RECEIVED" -> deliver("MRA_REP", connection);
            default -> {
                deliver("RTU", connection);
                if (state.startsWith("DREQ_RECEIVED")) {
                    deliver("DREQ", connection);
                } else if (!state.startsWith("ESTABLISHED")) {
                    connection.disconnect(fabric.now);
                    if (state.equals("TIMEWAIT")) {
                        deliver("DREP", connection);
                    }
                }
            }
        }
    }

    private CmConnection connect() {
        return host.agent.connect(
                fabric.now,
                Req.builder()
                        .localQueuePair(OUR_QUEUE_PAIR)
                        .serviceId(1)
                        .primaryPath(CmPath.roce(host.address, PEER, 0, 0, 64, 19)),
                0,
                host);
    }

    private CmConnection request() {
        host.listen();
        fabric.inject(PEER, host.address, peersRequest(), 9);
        return host.requested.getLast();
    }

    private Req peersRequest() {
        return Req.builder()
                .localCommunicationId(PEER_ID)
                .localCaGuid(PEER_GUID)
                .localQueuePair(PEER_QUEUE_PAIR)
                .serviceId(CmHost.SERVICE)
                .primaryPath(CmPath.roce(PEER, host.address, 0, 0, 64, 19))
                .build();
    }

    private void deliver(String name, CmConnection connection) {
        int to = connection.localId();
        PrivateData none = PrivateData.EMPTY;
        CmMessage message = switch (name) {
            case "REQ" -> peersRequest();
            case "REP" ->
                Rep.builder()
                        .communicationIds(PEER_ID, to)
                        .localQueuePair(PEER_QUEUE_PAIR)
                        .responderResources(1)
                        .initiatorDepth(1)
                        .targetAcknowledgeDelay(15)
                        .localCaGuid(PEER_GUID)
                        .privateData(none)
                        .build();
            case "REP_OTHER" ->
                Rep.builder()
                        .communicationIds(PEER_ID + 1, to)
                        .localQueuePair(PEER_QUEUE_PAIR + 1)
                        .responderResources(1)
                        .initiatorDepth(1)
                        .targetAcknowledgeDelay(15)
                        .localCaGuid(PEER_GUID)
                        .privateData(none)
                        .build();
            case "MRA_REQ" -> new Mra(PEER_ID, to, Mra.MESSAGE_REQ, 24, none);
            case "MRA_REP" -> new Mra(PEER_ID, to, Mra.MESSAGE_REP, 24, none);
            case "REJ" -> Rej.of(PEER_ID, to, Rej.MESSAGE_OTHER, RejectReason.CONSUMER_DEFINED, none);
            case "REJ_NO_ID" -> Rej.of(0, to, Rej.MESSAGE_REQ, RejectReason.INVALID_SERVICE_ID, none);
            case "REJ_STALE" -> Rej.of(PEER_ID, to, Rej.MESSAGE_REP, RejectReason.STALE_CONNECTION, none);
            case "REJ_TIMEOUT" -> Rej.timeout(PEER_ID, Rej.MESSAGE_OTHER, PEER_GUID);
            case "RTU" -> new Rtu(PEER_ID, to, none);
            case "DREQ" -> new Dreq(PEER_ID, to, OUR_QUEUE_PAIR, none);
            case "DREQ_WRONG_QPN" -> new Dreq(PEER_ID, to, OUR_QUEUE_PAIR + 1, none);
            case "DREQ_UNKNOWN" -> new Dreq(PEER_ID, to + 1, OUR_QUEUE_PAIR, none);
            case "DREP" -> new Drep(PEER_ID, to, none);
            default -> throw new IllegalArgumentException(name);
        };
        fabric.inject(PEER, host.address, message, 9);
    }

    @ParameterizedTest
    @CsvFileSource(resources = "/io/rdma4j/transport/cm/state-matrix.csv", numLinesToSkip = 1)
    void messageInStateHasTheSpecifiedEffect(String state, String message, String next, String sent, String events) {
        CmConnection connection = connectionIn(state);
        deliver(message, connection);
        assertThat(connection.state().name()).isEqualTo(next.equals("same") ? stateName(state) : next);
        assertThat(String.join(" ", fabric.log)).isEqualTo(sent.equals("-") ? "" : sent);
        assertThat(String.join(" + ", host.events)).isEqualTo(events.equals("-") ? "" : events);
        boolean hasState = connection.state() != CmState.IDLE;
        assertThat(host.agent.connectionCount()).isEqualTo(hasState ? 1 : 0);
        boolean isWithdrawn =
                state.equals("MRA_REQ_SENT") && !connection.state().equals(CmState.MRA_REQ_SENT);
        assertThat(host.agent.halfOpenCount()).isEqualTo(isWithdrawn || isHalfOpen(connection) ? 1 : 0);
        connection.releaseBacklog(); // the owner takes a withdrawn request
        assertThat(host.agent.halfOpenCount()).isEqualTo(isHalfOpen(connection) ? 1 : 0);
        if (connection.state() == CmState.TIMEWAIT) {
            fabric.run(2_048 * CmFabric.MILLISECOND);
            assertThat(host.events).endsWith("timewait exit");
            host.assertNothingLeft();
        }
    }

    private static boolean isHalfOpen(CmConnection connection) {
        return switch (connection.state()) {
            case MRA_REQ_SENT, REP_SENT, MRA_REP_RECEIVED -> true;
            default -> false;
        };
    }

    private static String stateName(String state) {
        return state.replace("_ACTIVE", "").replace("_PASSIVE", "");
    }

    @ParameterizedTest
    @CsvSource({
        // state, message sent by destroy, whether the state is removed at once
        "REQ_SENT,           REJ 4 2,  true",
        "MRA_REQ_RECEIVED,   REJ 4 2,  true",
        "MRA_REQ_SENT,       REJ 28 0, true",
        "REP_SENT,           REJ 28 2, false",
        "MRA_REP_RECEIVED,   REJ 28 2, false",
        "MRA_REP_SENT,       REJ 28 1, true",
        "ESTABLISHED_ACTIVE, DREQ,     false",
        "ESTABLISHED_PASSIVE,DREQ,     false",
        "DREQ_SENT,          '',       false",
        "DREQ_RECEIVED,      DREP,     false",
        "TIMEWAIT,           '',       false",
        "IDLE,               '',       true"
    })
    void destroyNotifiesThePeer(String state, String sent, boolean isRemoved) {
        CmConnection connection = connectionIn(state);
        assertThat(connection.destroy(fabric.now)).isEqualTo(isRemoved);
        CmDatagram out = host.agent.pollTransmit();
        if (sent.isEmpty()) {
            assertThat(out).isNull();
        } else {
            CmMessage message =
                    requireNonNull(CmMessage.parse(requireNonNull(out).mad(), 0, 256));
            assertThat(describe(message, connection)).isEqualTo(sent);
        }
        assertThat(host.agent.pollTransmit()).isNull();
        fabric.run(200 * CmFabric.SECOND);
        host.assertNothingLeft();
        assertThat(connection.state()).isEqualTo(CmState.IDLE);
        assertThat(host.events).isEqualTo(isRemoved ? List.of() : List.of("timewait exit"));
    }

    private static String describe(CmMessage message, CmConnection connection) {
        if (message instanceof Rej rej) {
            boolean timeout = rej.reason() == RejectReason.TIMEOUT.code();
            assertThat(rej.localCommunicationId()).isEqualTo(connection.localId());
            assertThat(rej.remoteCommunicationId()).isEqualTo(timeout ? 0 : PEER_ID);
            assertThat(rej.informationGuid()).isEqualTo(timeout ? 0x5054_00ff_fe88_0001L : 0);
            return "REJ " + rej.reason() + " " + rej.message();
        }
        if (message instanceof Dreq dreq) {
            assertThat(dreq.remoteQueuePair()).isEqualTo(PEER_QUEUE_PAIR);
        }
        return message.attribute().name();
    }

    @ParameterizedTest
    @CsvSource({
        "accept,     MRA_REQ_SENT",
        "reject,     MRA_REQ_SENT MRA_REP_SENT REP_SENT MRA_REP_RECEIVED",
        "confirm,    MRA_REP_SENT",
        "disconnect, ESTABLISHED_ACTIVE ESTABLISHED_PASSIVE DREQ_RECEIVED DREQ_SENT TIMEWAIT"
    })
    void callsInOtherStatesAreRefused(String call, String allowed) {
        List<String> states = List.of(
                "REQ_SENT",
                "MRA_REQ_RECEIVED",
                "MRA_REQ_SENT",
                "REP_SENT",
                "MRA_REP_RECEIVED",
                "MRA_REP_SENT",
                "ESTABLISHED_ACTIVE",
                "ESTABLISHED_PASSIVE",
                "DREQ_SENT",
                "DREQ_RECEIVED",
                "TIMEWAIT",
                "IDLE");
        for (String state : states) {
            CmStateMatrixTest fresh = new CmStateMatrixTest();
            CmConnection connection = fresh.connectionIn(state);
            if (List.of(allowed.split(" ")).contains(state)) {
                fresh.call(call, connection);
            } else {
                assertThatThrownBy(() -> fresh.call(call, connection))
                        .as("%s in %s", call, state)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(connection.state().name());
            }
        }
    }

    private void call(String call, CmConnection connection) {
        switch (call.toLowerCase(Locale.ROOT)) {
            case "accept" -> connection.accept(fabric.now, CmHost.reply(1));
            case "reject" -> connection.reject(fabric.now, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            case "confirm" -> connection.sendReadyToUse(fabric.now);
            case "disconnect" -> connection.disconnect(fabric.now);
            default -> throw new IllegalArgumentException(call);
        }
    }

    @Test
    void destroyAtTheRequestEventRejects() {
        host.listen();
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        peersRequest().emit(mad, 0, 9);
        host.agent.onMad(fabric.now, CmFabric.received(PEER, host.address, mad));
        AgentEvent.Requested event = (AgentEvent.Requested) requireNonNull(host.agent.pollEvent());
        assertThat(event.connection().state()).isEqualTo(CmState.REQ_RECEIVED);
        event.connection().destroy(fabric.now);
        fabric.flush();
        assertThat(fabric.log).containsExactly("REJ");
        assertThat(host.agent.counters().rejectsSent).isEqualTo(1);
        host.assertNothingLeft();
    }

    @Test
    void dreqOfADestroyedConnectionIsRetransmittedForTwoIntervals() {
        CmConnection connection = connectionIn("ESTABLISHED_PASSIVE");
        connection.destroy(fabric.now);
        fabric.run(2 * 4_096 * CmFabric.MILLISECOND);
        assertThat(connection.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(fabric.log).hasSize(6).containsOnly("DREQ");
        fabric.run(2_048 * CmFabric.MILLISECOND);
        assertThat(host.events).containsExactly("timewait exit");
        host.assertNothingLeft();
    }

    @Test
    void replyReportsThatTheAlternatePathIsNotSupported() {
        host.listen();
        Req plain = peersRequest();
        Req request = Req.builder()
                .localCommunicationId(PEER_ID)
                .localCaGuid(PEER_GUID)
                .localQueuePair(PEER_QUEUE_PAIR)
                .serviceId(CmHost.SERVICE)
                .primaryPath(plain.primaryPath())
                .alternatePath(plain.primaryPath())
                .build();
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        request.emit(mad, 0, 9);
        host.agent.onMad(fabric.now, CmFabric.received(PEER, host.address, mad));
        host.handleEvents();
        CmDatagram out = requireNonNull(host.agent.pollTransmit());
        Rep reply = (Rep) requireNonNull(CmMessage.parse(out.mad(), 0, CmMad.LENGTH));
        assertThat(reply.failoverAccepted()).isEqualTo(1);
    }
}
