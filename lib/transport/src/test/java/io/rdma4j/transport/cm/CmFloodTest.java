package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static io.rdma4j.transport.cm.CmTarget.host;
import static io.rdma4j.transport.cm.CmTarget.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Floods of requests from forged addresses, in addition to connected and new clients, with the default limits. */
class CmFloodTest {
    private static final int CLIENTS = 8;
    private static final int FIRST_FORGED = 1_000_000;

    /** Limit of REPs retransmitted to addresses that never answered: 1000 in a burst, then 100 a second. */
    private static final int MAX_RETRANSMISSIONS = 1_000 + 100 * 70;

    private final CmTarget target = new CmTarget(CmConfiguration.of(1, new Random(1)::nextInt));
    private final CmAgent agent = target.agent;
    private int forged = FIRST_FORGED;

    private void connectClients() {
        target.listen();
        for (int i = 0; i < CLIENTS; i++) {
            int _ = target.connect(host(2 + i), 1);
        }
    }

    private void floodUnusedService(int requests) {
        for (int i = 0; i < requests; i++) {
            String _ = target.requestUnusedService(host(forged++), 1);
        }
    }

    private boolean isServed(Gid source, int id) {
        return target.deliver(source, request(source, source.low(), id, 0x1000 + id)).stream()
                .anyMatch(answer -> answer instanceof Rep rep
                        && target.deliver(source, new Rtu(id, rep.localCommunicationId(), PrivateData.EMPTY))
                                .isEmpty());
    }

    @Test
    void newClientsAreServedDuringAFloodOfForgedAddresses() {
        connectClients();
        floodUnusedService(20_000);
        target.runUntil(target.now + 3_600 * SECOND);
        for (int i = 0; i < 400; i++) {
            floodUnusedService(100);
            target.runUntil(target.now + 50 * MILLISECOND);
        }
        int served = 0;
        for (int i = 0; i < 200; i++) {
            floodUnusedService(100);
            served += isServed(host(100 + i), 1) ? 1 : 0;
            target.runUntil(target.now + 50 * MILLISECOND);
        }
        assertThat(served)
                .as("of 200 new clients, during 2000 forged requests a second")
                .isEqualTo(200);
    }

    @Test
    void confirmationByOneAddressDoesNotLiftTheReplyLimitOfOthers() {
        connectClients();
        floodUnusedService(20_000);
        target.runUntil(target.now + 60 * SECOND);
        assertThat(isServed(host(100), 1)).isTrue();
        int before = target.sent.size();
        for (int i = 0; i < 3_000; i++) {
            // At the processing rate, in case they are all treated as one address.
            target.runUntil(target.now + MILLISECOND);
            String _ = target.requestConnection(host(forged++), 1);
        }
        long received = agent.counters().madsReceived;
        target.runUntil(target.now + 70 * SECOND);
        assertThat(received).isGreaterThan(3_000);
        assertThat(agent.counters().retransmissions).isLessThanOrEqualTo(MAX_RETRANSMISSIONS);
        assertThat(target.sent.size() - before).isLessThanOrEqualTo(3_000 + MAX_RETRANSMISSIONS);
        assertThat(agent.halfOpenCount()).isZero();
    }

    @Test
    void addressesWithConnectionsAreTrackedDuringAFlood() {
        connectClients();
        int max = agent.configuration().maxConnectionsPerPeer();
        Gid greedy = host(2);
        for (int id = 2; id <= max; id++) {
            target.runUntil(target.now + MILLISECOND);
            int _ = target.connect(greedy, id);
        }
        floodUnusedService(20_000);
        Rej rej = (Rej) target.deliver(greedy, request(greedy, greedy.low(), max + 1, 0x1000 + max + 1))
                .getFirst();
        assertThat(rej.reason()).isEqualTo(RejectReason.NO_RESOURCES.code());
    }

    @Test
    void numberOfTrackedForgedAddressesIsBounded() {
        connectClients();
        floodUnusedService(100_000);
        assertThat(agent.rememberedSources()).isLessThanOrEqualTo(RequestRateLimits.MAX_IDLE_SOURCES + CLIENTS);
        assertThat(agent.connectionCount()).isEqualTo(CLIENTS);
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 21, 31})
    void unconfirmedReplyEndsWithin66SecondsForAnyRequestedTimeout(int exponent) {
        target.listen();
        Gid peer = host(9);
        Req slow = Req.builder()
                .localCommunicationId(1)
                .localCaGuid(9)
                .localQueuePair(5)
                .serviceId(CmTarget.SERVICE)
                .maxCmRetries(15)
                .localResponseTimeout(exponent)
                .remoteResponseTimeout(exponent)
                .primaryPath(CmPath.roce(peer, CmTarget.SERVER, 0, 0, 64, exponent))
                .build();
        Rep rep = (Rep) target.deliver(peer, slow).getFirst();
        Mra askForTime = new Mra(1, rep.localCommunicationId(), Mra.MESSAGE_REP, 31, PrivateData.EMPTY);
        long acceptedNanos = target.now;
        for (int second = 1; second <= 66; second++) {
            assertThat(target.deliver(peer, askForTime)).isEmpty();
            target.runUntil(acceptedNanos + second * SECOND);
        }
        assertThat(agent.halfOpenCount()).isZero();
        assertThat(agent.connectionCount()).isZero();
    }

    @Test
    void newClientsAreServed66SecondsAfterForgedRequestsFillTheTable() {
        target.listen();
        for (int i = 0; i < CmConfiguration.DEFAULT_MAX_HALF_OPEN + 1_000; i++) {
            String _ = target.requestConnection(host(forged++), 1);
        }
        assertThat(agent.halfOpenCount()).isEqualTo(CmConfiguration.DEFAULT_MAX_HALF_OPEN);
        assertThat(isServed(host(100), 1)).isFalse();
        target.runUntil(target.now + 66 * SECOND);
        assertThat(isServed(host(100), 2)).isTrue();
        assertThat(agent.connectionCount()).isEqualTo(1);
    }
}
