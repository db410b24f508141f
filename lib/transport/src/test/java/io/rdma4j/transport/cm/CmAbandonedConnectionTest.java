package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.cm.CmAttribute;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections of a killed process, which another process of its host disconnects. */
class CmAbandonedConnectionTest {
    private final CmFabric fabric = new CmFabric();
    private final CmHost client = new CmHost(fabric, 1);
    private final CmHost killed = new CmHost(fabric, 2);

    /** The open connections of the killed process, as its events say, by communication ID. */
    private final Map<Integer, CmConnection> open = killed.open;

    @BeforeEach
    void listen() {
        killed.listen();
    }

    private List<CmConnection> established(int count) {
        List<CmConnection> connections = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            connections.add(client.connect(killed));
            fabric.run(10 * MILLISECOND);
        }
        assertThat(open).hasSize(count);
        return connections;
    }

    /** Creates the process that replaces the killed one and disconnects its connections. */
    private CmHost successor() {
        CmHost successor = new CmHost(fabric, 2);
        for (CmConnection each : List.copyOf(open.values())) {
            successor.agent.disconnectAbandoned(fabric.now, each.asAbandonedConnection());
        }
        return successor;
    }

    @Test
    void peersOfAKilledProcessAreDisconnected() {
        established(3);
        CmHost successor = successor();
        fabric.run(10 * MILLISECOND);
        assertThat(client.events.subList(3, 6)).containsOnly("disconnect request");
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(3);
        assertThat(successor.agent.counters().abandonedConnections).isEqualTo(3);
        fabric.run(3 * SECOND);
        client.assertNothingLeft();
        successor.assertNothingLeft();
        assertThat(successor.events).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void dreqOfAnAbandonedConnectionIsRetransmitted(int lost) {
        established(1);
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.DREQ && occurrence <= lost ? new long[0] : new long[] {MILLISECOND};
        CmHost successor = successor();
        fabric.run(20 * SECOND);
        assertThat(client.events).containsExactly("reply", "disconnect request", "timewait exit");
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(lost + 1);
        successor.assertNothingLeft();
    }

    @Test
    void silentPeersAreGivenUpAndNoStateRemains() {
        established(1);
        fabric.delivery = (attribute, occurrence) -> new long[0];
        CmHost successor = successor();
        fabric.run(11 * SECOND);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(6);
        successor.assertNothingLeft();
    }

    @Test
    void peerThatDisconnectsAtTheSameTimeIsAnswered() {
        CmConnection connection = established(1).getFirst();
        CmHost successor = successor();
        connection.disconnect(fabric.now);
        fabric.run(10 * MILLISECOND);
        assertThat(client.events).containsExactly("reply", "disconnected");
        assertThat(successor.agent.counters().wrongQueuePairDropped).isZero();
        fabric.run(3 * SECOND);
        successor.assertNothingLeft();
    }

    @Test
    void dreqsOfManyConnectionsAreSentInBatches() {
        established(100);
        CmHost successor = successor();
        fabric.runUntil(fabric.now);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(16);
        fabric.run(MILLISECOND);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(32);
        fabric.run(10 * MILLISECOND);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(100);
        assertThat(successor.agent.pendingAbandonedConnections()).isZero();
        fabric.run(3 * SECOND);
        client.assertNothingLeft();
        successor.assertNothingLeft();
    }

    @Test
    void endOfEachConnectionIsReported() {
        List<CmConnection> connections = established(4);
        connections.get(0).disconnect(fabric.now);
        killed.requested.get(1).disconnect(fabric.now);
        killed.requested.get(2).destroy(fabric.now);
        fabric.run(10 * MILLISECOND);
        assertThat(open.values()).containsExactly(killed.requested.get(3));
    }

    @Test
    void connectionIsNotClosedUntilItsDreqIsAnsweredOrGivenUp() {
        established(1);
        fabric.delivery = (attribute, occurrence) -> new long[0];
        killed.requested.getFirst().destroy(fabric.now);
        fabric.run(8 * SECOND);
        assertThat(open).hasSize(1);
        fabric.run(SECOND);
        assertThat(open).isEmpty();
    }

    @Test
    void ownConnectionsAreNotAbandoned() {
        CmConnection connection = established(1).getFirst();
        client.agent.disconnectAbandoned(fabric.now, connection.asAbandonedConnection());
        fabric.run(SECOND);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(fabric.sent).doesNotContainKey(CmAttribute.DREQ);
    }
}
