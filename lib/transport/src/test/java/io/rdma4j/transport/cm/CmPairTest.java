package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.PrivateData;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Establishment and disconnection between two agents. */
class CmPairTest {
    /** Upper bound of the duration of any exchange in these tests. */
    private static final long LONGEST_EXCHANGE = 400 * SECOND;

    private final CmFabric fabric = new CmFabric();
    private final CmHost client = new CmHost(fabric, 1);
    private final CmHost server = new CmHost(fabric, 2);

    @BeforeEach
    void listen() {
        server.listen();
    }

    @AfterEach
    void assertNoStateRemains() {
        fabric.run(LONGEST_EXCHANGE);
        client.assertNothingLeft();
        server.assertNothingLeft();
    }

    private CmConnection established() {
        CmConnection connection = client.connect(server);
        fabric.run(10 * MILLISECOND);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        return connection;
    }

    private void disconnect(CmConnection connection) {
        connection.disconnect(fabric.now);
        fabric.run(10 * MILLISECOND);
    }

    @Test
    void lostPeerIsReportedOnceLikeADreq() {
        CmConnection connection = established();
        client.agent.onPeersLost(each -> each.remoteId() != connection.remoteId());
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        client.agent.onPeersLost(each -> each.remoteId() == connection.remoteId());
        client.agent.onPeersLost(each -> true);
        client.handleEvents();
        assertThat(connection.state()).as("the application has disconnected").isEqualTo(CmState.TIMEWAIT);
        assertThat(client.events).containsExactly("reply", "disconnect request");
        assertThat(client.agent.counters().lostPeers).isEqualTo(1);

        disconnect(server.requested.getFirst()); // the peer is alive after all
        fabric.run(10 * SECOND);
    }

    @Test
    void connectAndDisconnectTakeFiveMessages() {
        CmConnection connection = established();
        CmConnection passive = server.requested.getFirst();
        assertThat(passive.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(passive.remoteQueuePair()).isEqualTo(0x100);
        assertThat(connection.remoteId()).isEqualTo(passive.localId());
        assertThat(passive.remoteId()).isEqualTo(connection.localId());
        assertThat(connection.remoteCaGuid())
                .isEqualTo(server.agent.configuration().caGuid());
        assertThat(connection.queuePairAckTimeout()).isEqualTo(19);
        assertThat(passive.queuePairAckTimeout()).isEqualTo(19);
        disconnect(connection);
        fabric.run(3 * SECOND);

        assertThat(fabric.log).containsExactly("REQ", "REP", "RTU", "DREQ", "DREP");
        assertThat(client.events).containsExactly("reply", "disconnected", "timewait exit");
        assertThat(server.events).containsExactly("request", "ready", "disconnect request", "timewait exit");
    }

    @ParameterizedTest
    @EnumSource(names = {"REQ", "REP", "RTU", "DREQ", "DREP"})
    void oneLostMessageIsRepaired(CmAttribute lost) {
        fabric.delivery = (attribute, occurrence) ->
                attribute == lost && occurrence == 1 ? new long[0] : new long[] {MILLISECOND};
        CmConnection connection = client.connect(server);
        fabric.run(SECOND);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(server.requested.getFirst().state()).isEqualTo(CmState.ESTABLISHED);
        connection.disconnect(fabric.now);
        fabric.run(5 * SECOND);

        assertThat(client.events).containsExactly("reply", "disconnected", "timewait exit");
        assertThat(server.events).containsExactly("request", "ready", "disconnect request", "timewait exit");
    }

    @Test
    void dreqAfterALostRtuEstablishesFirst() {
        fabric.delivery =
                (attribute, occurrence) -> attribute == CmAttribute.RTU ? new long[0] : new long[] {MILLISECOND};
        CmConnection connection = established();
        assertThat(server.requested.getFirst().state()).isEqualTo(CmState.REP_SENT);
        connection.destroy(fabric.now);
        fabric.run(10 * MILLISECOND);

        assertThat(server.events).containsExactly("request", "ready", "disconnect request");
        assertThat(server.agent.counters().established).isEqualTo(1);
    }

    @Test
    void noDisconnectIsReportedAfterDestroyAtTheReadyEvent() {
        server.onReady = connection -> connection.destroy(fabric.now);
        fabric.delivery =
                (attribute, occurrence) -> attribute == CmAttribute.RTU ? new long[0] : new long[] {MILLISECOND};
        CmConnection connection = established();
        connection.destroy(fabric.now);
        fabric.run(10 * MILLISECOND);

        assertThat(server.requested.getFirst().state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(connection.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(server.events).containsExactly("request", "ready");
    }

    /** The DREQ of a destroyed connection is sent up to six times. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void destroyDisconnectsThePeerDespiteLostDreqs(int lost) {
        CmConnection connection = established();
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.DREQ && occurrence <= lost ? new long[0] : new long[] {MILLISECOND};
        connection.destroy(fabric.now);
        fabric.run(10 * SECOND);

        assertThat(server.events).containsExactly("request", "ready", "disconnect request", "timewait exit");
        assertThat(client.events).as("the DREP is not reported").containsExactly("reply", "timewait exit");
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(lost + 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 100})
    void destroyedConnectionIsRemovedDespiteLostDreps(int lost) {
        CmConnection connection = established();
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.DREP && occurrence <= lost ? new long[0] : new long[] {MILLISECOND};
        connection.destroy(fabric.now);
        fabric.run(20 * SECOND);

        assertThat(server.events).containsExactly("request", "ready", "disconnect request", "timewait exit");
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(Math.min(lost + 1, 6));
        client.assertNothingLeft();
    }

    @Test
    void dreqIsRetransmittedAfterTheConnectionIsDestroyed() {
        CmConnection connection = established();
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.DREQ && occurrence <= 2 ? new long[0] : new long[] {MILLISECOND};
        connection.disconnect(fabric.now);
        fabric.run(100 * MILLISECOND);
        assertThat(connection.destroy(fabric.now)).isFalse();
        fabric.run(10 * SECOND);

        assertThat(server.events).containsExactly("request", "ready", "disconnect request", "timewait exit");
        assertThat(client.events).as("the DREP is not reported").containsExactly("reply", "timewait exit");
    }

    @Test
    void triplicatedMessageIsReportedOnce() {
        fabric.delivery = (attribute, occurrence) -> new long[] {MILLISECOND, MILLISECOND, 2 * MILLISECOND};
        CmConnection connection = established();
        disconnect(connection);
        fabric.run(5 * SECOND);

        assertThat(client.events).containsExactly("reply", "disconnected", "timewait exit");
        assertThat(server.events).containsExactly("request", "ready", "disconnect request", "timewait exit");
        assertThat(server.requested).hasSize(1);
    }

    @Test
    void dataBeforeTheRtuEstablishes() {
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.RTU && occurrence == 1 ? new long[0] : new long[] {MILLISECOND};
        CmConnection connection = client.connect(server);
        fabric.run(10 * MILLISECOND);
        CmConnection passive = server.requested.getFirst();
        assertThat(passive.state()).isEqualTo(CmState.REP_SENT);

        assertThat(passive.notifyCommunicationEstablished()).isTrue();
        assertThat(passive.notifyCommunicationEstablished()).isFalse();
        server.handleEvents();

        assertThat(server.events).containsExactly("request", "ready");
        fabric.run(10 * SECOND);
        assertThat(fabric.sent.get(CmAttribute.REP)).isEqualTo(1);
        disconnect(connection);
    }

    @Test
    void rejectCarriesReasonAndPrivateData() {
        server.accepts = false;
        PrivateData nope = PrivateData.of("NOPE".getBytes(StandardCharsets.US_ASCII));
        CmConnection connection = client.connect(server);
        fabric.run(10 * MILLISECOND);
        CmConnection passive = server.requested.getFirst();
        assertThat(passive.state()).isEqualTo(CmState.MRA_REQ_SENT);
        passive.reject(fabric.now, RejectReason.CONSUMER_DEFINED, nope);
        fabric.run(10 * MILLISECOND);

        assertThat(client.events).containsExactly("reject 28");
        assertThat(requireNonNull(client.lastReject).privateData()).isEqualTo(nope.padded(148));
        assertThat(connection.state()).isEqualTo(CmState.IDLE);
        assertThat(passive.state()).isEqualTo(CmState.IDLE);
    }

    @Test
    void silentPeerIsUnreachableAfterSixteenOfLinuxsIntervals() {
        fabric.delivery = (attribute, occurrence) -> new long[0];
        client.connect(server);
        long giveUp = 16 * 6_144 * MILLISECOND;
        fabric.run(giveUp - 1);
        assertThat(client.events).isEmpty();
        fabric.run(1);
        assertThat(client.events).containsExactly("unreachable");
        assertThat(fabric.sent.get(CmAttribute.REQ)).isEqualTo(20);
    }

    @Test
    void silentClientIsUnreachableForTheServerAfterSixteenOfLinuxsIntervals() {
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.REQ && occurrence == 1 ? new long[] {MILLISECOND} : new long[0];
        client.connect(server);
        fabric.run(MILLISECOND + 16 * 4_096 * MILLISECOND - 1);
        assertThat(server.events).containsExactly("request");
        fabric.run(1);
        assertThat(server.events).containsExactly("request", "unreachable");
    }

    @Test
    void earlyFirstRetransmissionsDoNotShortenTheTimeToGiveUp() {
        fabric.delivery = (attribute, occurrence) -> new long[0];
        client.maxCmRetries = 0;
        client.connect(server);
        fabric.run(6_143 * MILLISECOND);
        assertThat(client.events).isEmpty();
        fabric.run(MILLISECOND);
        assertThat(client.events).containsExactly("unreachable");
    }

    @Test
    void disconnectFromASilentPeerTimesOutIntoTimewait() {
        CmConnection connection = established();
        fabric.delivery = (attribute, occurrence) -> new long[0];
        connection.disconnect(fabric.now);
        fabric.run(110 * SECOND);
        assertThat(client.events).containsExactly("reply", "disconnect timeout", "timewait exit");
        server.requested.getFirst().destroy(fabric.now);
    }

    @Test
    void extendedConnectionTakesItsTargetFromTheReplyAndDisconnectsByIt() {
        client.extended = true;
        CmConnection connection = established();
        CmConnection passive = server.requested.getFirst();
        assertThat(passive.request().isExtended()).isTrue();
        assertThat(connection.remoteQueuePair())
                .isEqualTo(passive.localQueuePair())
                .isNotZero();
        assertThat(passive.remoteQueuePair()).isEqualTo(connection.localQueuePair());
        disconnect(connection);
        fabric.run(5 * SECOND);

        assertThat(fabric.log).containsExactly("REQ", "REP", "RTU", "DREQ", "DREP");
    }
}
