package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.cm.CmAttribute;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections whose process is killed, and which another one of its host ends in its name. */
class CmAbandonedConnectionTest {
    private final CmFabric fabric = new CmFabric();
    private final CmHost client = new CmHost(fabric, 1);
    private final CmHost killed = new CmHost(fabric, 2);

    /** What a watch has been told of the connections of the killed one, by communication ID. */
    private final Map<Integer, CmConnection> known = new LinkedHashMap<>();

    @BeforeEach
    void listen() {
        killed.listen();
        killed.agent.watch(new ConnectionObserver() {
            @Override
            public void onEstablished(CmConnection connection) {
                assertThat(known.put(connection.localId(), connection)).isNull();
            }

            @Override
            public void onClosed(CmConnection connection) {
                assertThat(known.remove(connection.localId())).isSameAs(connection);
            }
        });
    }

    private List<CmConnection> established(int count) {
        List<CmConnection> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(client.connect(killed));
            fabric.run(10 * MILLISECOND);
        }
        assertThat(known).hasSize(count);
        return made;
    }

    /** Another process takes the place of the killed one, and ends what it has left. */
    private CmHost heir() {
        CmHost heir = new CmHost(fabric, 2);
        for (CmConnection each : List.copyOf(known.values())) {
            heir.agent.disconnectAbandoned(fabric.now, each.asAbandonedConnection());
        }
        return heir;
    }

    @Test
    void peersOfAKilledProcessHearOfItsEnd() {
        established(3);
        CmHost heir = heir();
        fabric.run(10 * MILLISECOND);
        assertThat(client.events.subList(3, 6)).containsOnly("disconnect request");
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(3);
        assertThat(heir.agent.counters().abandonedConnections).isEqualTo(3);
        fabric.run(3 * SECOND);
        client.assertNothingLeft();
        heir.assertNothingLeft();
        assertThat(heir.events).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void theirDreqIsRepeated(int lost) {
        established(1);
        fabric.fate = (attribute, occurrence) ->
                attribute == CmAttribute.DREQ && occurrence <= lost ? new long[0] : new long[] {MILLISECOND};
        CmHost heir = heir();
        fabric.run(20 * SECOND);
        assertThat(client.events).containsExactly("reply", "disconnect request", "timewait exit");
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(lost + 1);
        heir.assertNothingLeft();
    }

    @Test
    void silentPeersAreGivenUpAndNothingIsLeft() {
        established(1);
        fabric.fate = (attribute, occurrence) -> new long[0];
        CmHost heir = heir();
        fabric.run(11 * SECOND);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(6);
        heir.assertNothingLeft();
    }

    @Test
    void peerThatDisconnectsMeanwhileIsAnswered() {
        CmConnection connection = established(1).getFirst();
        CmHost heir = heir();
        connection.disconnect(fabric.now);
        fabric.run(10 * MILLISECOND);
        assertThat(client.events).containsExactly("reply", "disconnected");
        assertThat(heir.agent.counters().wrongQueuePairDropped).isZero();
        fabric.run(3 * SECOND);
        heir.assertNothingLeft();
    }

    @Test
    void manyGoOutBitByBit() {
        established(100);
        CmHost heir = heir();
        fabric.runUntil(fabric.now);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(16);
        fabric.run(MILLISECOND);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(32);
        fabric.run(10 * MILLISECOND);
        assertThat(fabric.sent.get(CmAttribute.DREQ)).isEqualTo(100);
        assertThat(heir.agent.pendingAbandonedConnections()).isZero();
        fabric.run(3 * SECOND);
        client.assertNothingLeft();
        heir.assertNothingLeft();
    }

    @Test
    void watchForgetsWhatHasEnded() {
        List<CmConnection> made = established(4);
        made.get(0).disconnect(fabric.now);
        killed.requested.get(1).disconnect(fabric.now);
        killed.requested.get(2).destroy(fabric.now);
        fabric.run(10 * MILLISECOND);
        assertThat(known.values()).containsExactly(killed.requested.get(3));
    }

    @Test
    void watchRemembersWhoHasNotAnsweredYet() {
        established(1);
        fabric.fate = (attribute, occurrence) -> new long[0];
        killed.requested.getFirst().destroy(fabric.now);
        fabric.run(8 * SECOND);
        assertThat(known).hasSize(1);
        fabric.run(SECOND);
        assertThat(known).isEmpty();
    }

    @Test
    void connectionsOfOnesOwnAreNoOrphans() {
        CmConnection connection = established(1).getFirst();
        client.agent.disconnectAbandoned(fabric.now, connection.asAbandonedConnection());
        fabric.run(SECOND);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(fabric.sent).doesNotContainKey(CmAttribute.DREQ);
    }
}
