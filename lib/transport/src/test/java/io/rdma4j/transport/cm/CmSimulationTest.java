package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.PrivateData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Simulations with random networks and applications; a failure names its seed. */
class CmSimulationTest {
    /** Time after which the timers of all states have expired. */
    private static final long ALL_TIMERS = 600 * SECOND;

    /** Returns a network that loses, duplicates, delays and thus reorders MADs at random. */
    private static CmFabric.Delivery randomDelivery(Random random, double loss, double copies, long delayNanos) {
        return (attribute, occurrence) -> {
            if (random.nextDouble() < loss) {
                return new long[0];
            }
            long[] delays = new long[random.nextDouble() < copies ? 3 : 1];
            Arrays.setAll(delays, i -> MILLISECOND + (long) (random.nextDouble() * delayNanos));
            return delays;
        };
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 0.2, 0.3})
    void connectionsSurviveLossAndLeaveNoState(double loss) {
        for (int seed = 0; seed < 300; seed++) {
            CmFabric fabric = new CmFabric();
            CmHost client = new CmHost(fabric, 1);
            CmHost server = new CmHost(fabric, 2);
            server.listen();
            fabric.delivery = randomDelivery(new Random(seed), loss, 0.1, 20 * MILLISECOND);
            List<CmConnection> connections = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                connections.add(client.connect(server));
            }
            fabric.run(60 * SECOND);
            for (CmConnection connection : connections) {
                assertThat(connection.state()).as("seed %d", seed).isEqualTo(CmState.ESTABLISHED);
                connection.disconnect(fabric.now);
            }
            fabric.run(ALL_TIMERS);
            assertThat(client.events).as("seed %d", seed).hasSize(15);
            assertThat(Collections.frequency(client.events, "disconnected"))
                    .as("seed %d", seed)
                    .isEqualTo(5);
            assertThat(Collections.frequency(client.events, "timewait exit")).isEqualTo(5);
            assertThat(Collections.frequency(server.events, "request")).isEqualTo(5);
            assertThat(Collections.frequency(server.events, "disconnect request"))
                    .isEqualTo(5);
            client.assertNothingLeft();
            server.assertNothingLeft();
        }
    }

    @Test
    void tenPercentLossDelaysConnectingLittle() {
        List<Long> times = new ArrayList<>();
        for (int seed = 0; seed < 1_000; seed++) {
            CmFabric fabric = new CmFabric();
            CmHost client = new CmHost(fabric, 1);
            CmHost server = new CmHost(fabric, 2);
            server.listen();
            fabric.delivery = randomDelivery(new Random(seed), 0.1, 0, MILLISECOND);
            long start = fabric.now;
            CmConnection connection = client.connect(server);
            while (connection.state() != CmState.ESTABLISHED) {
                fabric.run(MILLISECOND);
            }
            times.add(fabric.now - start);
        }
        Collections.sort(times);
        assertThat(times.get(500)).as("median").isLessThan(60 * MILLISECOND);
        assertThat(times.get(950)).as("95th percentile").isLessThan(2 * SECOND);
        assertThat(times.getLast()).as("maximum").isLessThan(15 * SECOND);
    }

    /** Applications make any call that the state of a connection allows, at any time. */
    @Test
    void randomCallsAndFaultsLeaveNoState() {
        for (int seed = 0; seed < 1_500; seed++) {
            CmFabric fabric = new CmFabric();
            Random random = new Random(seed);
            List<CmHost> hosts = List.of(new CmHost(fabric, 1), new CmHost(fabric, 2), new CmHost(fabric, 3));
            hosts.forEach(CmHost::listen);
            fabric.delivery = randomDelivery(random, random.nextDouble() * 0.4, random.nextDouble(), SECOND / 2);
            for (CmHost host : hosts) {
                host.accepts = random.nextBoolean();
                host.confirms = random.nextBoolean();
                host.disconnects = random.nextBoolean();
                host.responseDelayNanos = random.nextBoolean() ? 0 : random.nextLong(5 * SECOND);
            }
            for (int step = 0; step < 40; step++) {
                CmHost host = hosts.get(random.nextInt(3));
                if (random.nextInt(4) == 0) {
                    host.connect(hosts.get(random.nextInt(3)));
                } else if (!host.connections.isEmpty()) {
                    act(random, fabric, host.connections.get(random.nextInt(host.connections.size())));
                }
                fabric.run(random.nextLong(SECOND));
            }
            hosts.forEach(host -> host.connections.forEach(connection -> connection.destroy(fabric.now)));
            fabric.run(SECOND);
            // A request that was in flight may have created another connection.
            hosts.forEach(host -> host.connections.forEach(connection -> connection.destroy(fabric.now)));
            fabric.run(ALL_TIMERS);
            for (CmHost host : hosts) {
                assertThat(host.agent.connectionCount()).as("seed %d", seed).isZero();
                host.assertNothingLeft();
            }
        }
    }

    private static void act(Random random, CmFabric fabric, CmConnection connection) {
        if (random.nextInt(8) == 0) {
            connection.destroy(fabric.now);
            return;
        }
        switch (connection.state()) {
            case MRA_REQ_SENT -> {
                if (random.nextInt(4) == 0) {
                    connection.reject(fabric.now, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
                } else {
                    connection.accept(fabric.now, CmHost.reply(random.nextInt(0x1000, 0xff_ffff)));
                }
            }
            case MRA_REP_SENT -> connection.sendReadyToUse(fabric.now);
            case REP_SENT -> connection.notifyCommunicationEstablished();
            case ESTABLISHED, DREQ_RECEIVED -> connection.disconnect(fabric.now);
            default -> {}
        }
    }

    @Test
    void crossingDisconnectsEndBothSidesAtOnce() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        client.connect(server);
        fabric.run(10 * MILLISECOND);
        client.connections.getFirst().disconnect(fabric.now);
        server.connections.getFirst().disconnect(fabric.now);
        fabric.run(10 * MILLISECOND);
        assertThat(client.events).containsExactly("reply", "disconnected");
        assertThat(server.events).containsExactly("request", "ready", "disconnected");
        fabric.run(3 * SECOND);
        assertThat(fabric.log).containsExactly("REQ", "REP", "RTU", "DREQ", "DREQ", "DREP", "DREP");
        client.assertNothingLeft();
        server.assertNothingLeft();
    }

    @Test
    void agentConnectsToItself() {
        CmFabric fabric = new CmFabric();
        CmHost host = new CmHost(fabric, 1);
        host.listen();
        CmConnection connection = host.connect(host);
        fabric.run(10 * MILLISECOND);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(host.events).containsExactlyInAnyOrder("request", "reply", "ready");
        connection.disconnect(fabric.now);
        fabric.run(3 * SECOND);
        assertThat(host.events).hasSize(7);
        host.assertNothingLeft();
    }

    @Test
    void mrasKeepASlowPeerFromBeingGivenUp() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        server.responseDelayNanos = 300 * SECOND;
        CmConnection connection = client.connect(server);
        fabric.run(299 * SECOND);
        assertThat(connection.state()).isEqualTo(CmState.MRA_REQ_RECEIVED);
        assertThat(server.events).containsExactly("request");
        assertThat(fabric.sent.get(CmAttribute.REQ)).isLessThan(60);
        fabric.run(302 * SECOND);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        connection.disconnect(fabric.now);
        fabric.run(ALL_TIMERS);
        client.assertNothingLeft();
        server.assertNothingLeft();
    }

    @Test
    void peerThatSendsOnlyMrasIsGivenUp() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        server.accepts = false;
        client.connect(server);
        fabric.run(16 * 75 * SECOND);
        assertThat(client.events).containsExactly("unreachable");
        client.assertNothingLeft();
    }

    @Test
    void lostRtuAfterAnMraIsRepaired() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        client.responseDelayNanos = SECOND;
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.RTU && occurrence == 1 ? new long[0] : new long[] {MILLISECOND};
        client.connect(server);
        fabric.run(10 * SECOND);
        assertThat(fabric.log).contains("MRA");
        assertThat(server.events).containsExactly("request", "ready");
    }

    @Test
    void mraOfARepExtendsAShortTimeout() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        client.maxCmRetries = 0; // the server waits for 4.1 seconds
        client.responseDelayNanos = 60 * SECOND;
        CmConnection connection = client.connect(server);
        fabric.run(70 * SECOND);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(server.events).containsExactly("request", "ready");
    }

    @Test
    void peerThatDiesAfterAnMraIsGivenUp() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        server.accepts = false;
        client.connect(server);
        fabric.run(2 * SECOND);
        assertThat(fabric.log).contains("MRA");
        fabric.delivery = (attribute, occurrence) -> new long[0];
        fabric.run(67 * SECOND + 16 * 6_144 * MILLISECOND);
        assertThat(client.events).containsExactly("unreachable");
        client.assertNothingLeft();
    }

    @Test
    void repForADestroyedConnectionIsRejected() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        fabric.delivery = (attribute, occurrence) ->
                attribute == CmAttribute.REJ && occurrence == 1 ? new long[0] : new long[] {MILLISECOND};
        CmConnection connection = client.connect(server);
        fabric.flush();
        connection.destroy(fabric.now); // its REJ is lost
        fabric.run(10 * MILLISECOND);
        assertThat(server.events).containsExactly("request", "reject 6");
        server.assertNothingLeft();
    }

    @Test
    void timersOfLinuxAreUsedIfConfigured() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1, Long.MAX_VALUE);
        List<Long> times = new ArrayList<>();
        long start = fabric.now;
        fabric.delivery = (attribute, occurrence) -> {
            times.add((fabric.now - start) / MILLISECOND);
            return new long[0];
        };
        client.connect(new CmHost(fabric, 2));
        fabric.run(ALL_TIMERS);
        assertThat(times).hasSize(16);
        for (int i = 0; i < times.size(); i++) {
            assertThat(times.get(i)).isEqualTo(6_144L * i);
        }
    }

    @Test
    void queuePairsAreReleasedOnlyAfterTimewait() {
        CmFabric fabric = new CmFabric();
        CmHost client = new CmHost(fabric, 1);
        CmHost server = new CmHost(fabric, 2);
        server.listen();
        for (int i = 0; i < 10_000; i++) {
            CmConnection connection = client.connect(server);
            fabric.run(3 * MILLISECOND);
            long left = fabric.now;
            connection.disconnect(left);
            fabric.run(3 * MILLISECOND);
            assertThat(connection.state()).isEqualTo(CmState.TIMEWAIT);
            assertThat(connection.deadlineNanos - left).isGreaterThanOrEqualTo(2_048 * MILLISECOND);
        }
        assertThat(client.agent.connectionCount()).isLessThan(400);
        fabric.run(3 * SECOND);
        assertThat(Collections.frequency(client.events, "timewait exit")).isEqualTo(10_000);
        client.assertNothingLeft();
        server.assertNothingLeft();
    }
}
