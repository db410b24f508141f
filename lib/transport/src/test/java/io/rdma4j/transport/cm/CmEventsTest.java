package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.SidrRep;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The order of events, and events of objects that the owner destroys before it polls them. */
class CmEventsTest {
    private static final Gid PEER = Gid.ofIpv4(0x0a58_0002);
    private static final Gid SERVER = Gid.ofIpv4(0x0a58_0001);
    private static final long SERVICE = 0x0106_1c06L;
    private static final int PEER_ID = 0x77;
    private static final int QUEUE_PAIR = 0x44;

    private final CmAgent agent = new CmAgent(CmConfiguration.of(1, new Random(3)::nextInt));
    private final long now = 1_000 * CmFabric.SECOND;
    private RequestFilter.Verdict verdict = RequestFilter.Verdict.TAKE;

    CmEventsTest() {
        ListenedService<Req> _ = agent.listen(SERVICE, (_, _) -> verdict, 5, "listener");
    }

    private void deliver(CmMessage message) {
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        message.emit(mad, 0, 9);
        agent.onMad(now, CmFabric.received(PEER, SERVER, mad));
    }

    private static Req request() {
        return Req.builder()
                .localCommunicationId(PEER_ID)
                .localCaGuid(PEER_ID)
                .localQueuePair(0x66)
                .serviceId(SERVICE)
                .primaryPath(CmPath.roce(PEER, SERVER, 0, 0x20, 64, 19))
                .build();
    }

    private @Nullable CmMessage sent() {
        CmDatagram out = agent.pollTransmit();
        return out == null ? null : CmMessage.parse(out.mad(), 0, CmMad.LENGTH);
    }

    private CmConnection requested() {
        deliver(request());
        AgentEvent.Requested event = (AgentEvent.Requested) requireNonNull(agent.pollEvent());
        assertThat(event.service().attachment()).isEqualTo("listener");
        return event.connection();
    }

    private List<String> eventNames() {
        List<String> names = new ArrayList<>();
        AgentEvent event = agent.pollEvent();
        while (event != null) {
            names.add(event.getClass().getSimpleName());
            event = agent.pollEvent();
        }
        return names;
    }

    @Test
    void requestIsUndecidedFromTheNextPollOn() {
        CmConnection connection = requested();
        assertThat(connection.state()).isEqualTo(CmState.REQ_RECEIVED);
        deliver(request());
        assertThat(sent()).as("the owner may be about to answer").isNull();
        assertThat(agent.pollEvent()).isNull();
        assertThat(connection.state()).isEqualTo(CmState.MRA_REQ_SENT);
        deliver(request());
        assertThat(sent()).isInstanceOf(Mra.class);
    }

    @Test
    void rejectionBeforeTheNextPollCarriesNoCommunicationId() {
        requested().reject(now, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
        assertThat(((Rej) requireNonNull(sent())).localCommunicationId()).isZero();
        CmConnection later = requested();
        assertThat(agent.pollEvent()).isNull();
        later.reject(now, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
        assertThat(((Rej) requireNonNull(sent())).localCommunicationId()).isEqualTo(later.localId());
    }

    @Test
    void messageThatImpliesAnEarlierOneCausesTheEventsOfBothInOrder() {
        CmConnection connection = requested();
        connection.accept(now, CmHost.reply(QUEUE_PAIR));
        deliver(new Dreq(PEER_ID, connection.localId(), QUEUE_PAIR, PrivateData.EMPTY));
        assertThat(connection.state()).isEqualTo(CmState.DREQ_RECEIVED);
        assertThat(eventNames()).containsExactly("Opened", "ReadyToUse", "DisconnectRequested");
    }

    @Test
    void destroyedConnectionReportsOnlyItsEnd() {
        CmConnection connection = requested();
        connection.accept(now, CmHost.reply(QUEUE_PAIR));
        deliver(new Dreq(PEER_ID, connection.localId(), QUEUE_PAIR, PrivateData.EMPTY));
        assertThat(connection.destroy(now)).isFalse();
        assertThat(eventNames()).containsExactly("Opened", "Closed");
        agent.onDeadline(now + 3 * CmFabric.SECOND);
        assertThat(eventNames()).containsExactly("TimewaitExit");
        assertThat(agent.connectionCount()).isZero();
    }

    @Test
    void cancelledResolutionDiscardsAReplyThatHasArrived() {
        ServiceResolution resolution =
                agent.resolve(now, new CmRoute(SERVER, PEER, 0), SERVICE, PrivateData.EMPTY, "owner");
        deliver(SidrRep.of(resolution.requestId(), SidrRep.STATUS_VALID, 5, SERVICE, 6, PrivateData.EMPTY));
        resolution.cancel();
        assertThat(agent.pollEvent()).isNull();
        assertThat(agent.resolutionCount()).isZero();
    }

    @Test
    void requestWithAPathMtuThatCannotBeCarriedIsRejectedWithoutState() {
        verdict = RequestFilter.Verdict.INVALID_PATH_MTU;
        deliver(request());
        assertThat(agent.pollEvent()).isNull();
        assertThat(agent.connectionCount()).isZero();
        CmDatagram out = requireNonNull(agent.pollTransmit());
        assertThat(out.trafficClass()).as("the path MTU of the request").isEqualTo(0x20);
        Rej rej = (Rej) requireNonNull(CmMessage.parse(out.mad(), 0, CmMad.LENGTH));
        assertThat(rej.reason()).isEqualTo(RejectReason.INVALID_PATH_MTU.code());
        assertThat(rej.localCommunicationId()).isZero();
        assertThat(rej.remoteCommunicationId()).isEqualTo(PEER_ID);
        assertThat(agent.nextDeadlineNanos()).isGreaterThan(now + MILLISECOND);
    }
}
