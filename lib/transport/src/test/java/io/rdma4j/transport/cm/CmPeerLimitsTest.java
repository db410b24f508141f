package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static io.rdma4j.transport.cm.CmTarget.SERVER;
import static io.rdma4j.transport.cm.CmTarget.SERVICE;
import static io.rdma4j.transport.cm.CmTarget.host;
import static io.rdma4j.transport.cm.CmTarget.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Limits on the requests and connections of one address. */
class CmPeerLimitsTest {
    private static final int RATE = 10;
    private static final int BURST = 20;
    private static final int MAX_CONNECTIONS = 3;
    private static final int HALF_OPEN = 8192;

    private final CmTarget target = new CmTarget(new CmConfiguration(
            1, new Random(1)::nextInt, HALF_OPEN, false, 250 * MILLISECOND, RATE, BURST, MAX_CONNECTIONS));
    private final CmAgent agent = target.agent;

    @Test
    void requestsBeyondTheRateOfAnAddressAreDroppedAndOthersAreServed() {
        for (int i = 0; i < BURST; i++) {
            assertThat(target.requestConnection(host(9), 1 + i)).isEqualTo("Rej");
        }
        assertThat(target.requestConnection(host(9), 100)).isEmpty();
        assertThat(agent.counters().rateLimitedRequests).isEqualTo(1);
        assertThat(target.requestConnection(host(8), 1)).isEqualTo("Rej");
        target.now += SECOND / RATE;
        assertThat(target.requestConnection(host(9), 101)).isEqualTo("Rej");
        assertThat(target.requestConnection(host(9), 102)).isEmpty();
        target.now += 60 * SECOND;
        for (int i = 0; i < BURST; i++) {
            assertThat(target.requestConnection(host(9), 200 + i)).isEqualTo("Rej");
        }
        assertThat(target.requestConnection(host(9), 300))
                .as("a long silence fills the bucket, but not beyond the burst")
                .isEmpty();
    }

    @Test
    void serviceResolutionsAreLimitedToo() {
        for (int i = 0; i < BURST; i++) {
            assertThat(target.deliver(host(9), new SidrReq(1 + i, 0xffff, SERVICE, PrivateData.EMPTY)))
                    .hasSize(1);
        }
        assertThat(target.deliver(host(9), new SidrReq(100, 0xffff, SERVICE, PrivateData.EMPTY)))
                .isEmpty();
        assertThat(agent.counters().rateLimitedRequests).isEqualTo(1);
    }

    private void requestService(int host, int id) {
        target.deliver(host(host), new SidrReq(id, 0xffff, SERVICE, PrivateData.EMPTY));
    }

    @Test
    void waitingServiceRequestsOfAnAddressAreLimitedUntilOneIsAnswered() {
        List<ServiceRequest> waiting = new ArrayList<>();
        target.onServiceRequest = waiting::add;
        ListenedService<SidrReq> _ = agent.serve(SERVICE, (route, request) -> RequestFilter.Verdict.TAKE, 100, this);
        for (int i = 0; i < 2 * MAX_CONNECTIONS; i++) {
            requestService(9, 1 + i);
        }
        assertThat(waiting).hasSize(MAX_CONNECTIONS);
        assertThat(agent.counters().requestsBeyondPeerLimit).isEqualTo(MAX_CONNECTIONS);
        requestService(8, 1);
        assertThat(waiting).hasSize(MAX_CONNECTIONS + 1);
        waiting.getFirst().answer(target.now, SidrRep.STATUS_VALID, 5, 6, PrivateData.EMPTY);
        requestService(9, 100);
        assertThat(waiting).hasSize(MAX_CONNECTIONS + 2);
    }

    @Test
    void lastPlacesOfAServiceAreReservedForAddressesThatHaveNone() {
        List<ServiceRequest> waiting = new ArrayList<>();
        target.onServiceRequest = waiting::add;
        ListenedService<SidrReq> service =
                agent.serve(SERVICE, (route, request) -> RequestFilter.Verdict.TAKE, 64, this);
        for (int i = 0; i < 200; i++) {
            requestService(100 + i % 40, 1 + i);
        }
        assertThat(service.waiting()).as("the last two are reserved").isEqualTo(62);
        requestService(7, 1);
        requestService(8, 1);
        requestService(9, 1);
        assertThat(service.waiting()).isEqualTo(64);
    }

    @Test
    void processesOfOneAddressDoNotLimitEachOther() {
        for (int i = 0; i < 10 * BURST; i++) {
            assertThat(target.requestConnection(SERVER, 1 + i)).isEqualTo("Rej");
        }
        target.listen();
        for (int i = 0; i < 2 * MAX_CONNECTIONS; i++) {
            assertThat(target.requestConnection(SERVER, 1000 + i)).isEqualTo("Rep");
        }
    }

    /** On IPv6 they may come from the network: Linux accepts packets with its own address as the source. */
    @Test
    void requestsOfAnAddressToItselfAreRateLimitedToo() {
        int answered = 0;
        for (int i = 0; i < 100 * BURST; i++) {
            answered += target.requestConnection(SERVER, 1 + i).isEmpty() ? 0 : 1;
        }
        assertThat(answered).isEqualTo(32 * BURST);
        assertThat(agent.counters().rateLimitedRequests).isEqualTo(68 * BURST);
        assertThat(target.requestConnection(host(9), 1)).isEqualTo("Rej");
        target.now += SECOND;
        for (int i = 0; i < 100 * BURST; i++) {
            answered += target.requestConnection(SERVER, 10_000 + i).isEmpty() ? 0 : 1;
        }
        assertThat(answered).isEqualTo(32 * (BURST + RATE));
    }

    @Test
    void connectionsOfAnAddressAreLimitedUntilOneEnds() {
        target.listen();
        int id = target.connect(host(9), 1);
        int _ = target.connect(host(9), 2);
        int _ = target.connect(host(9), 3);
        Rej rej = (Rej) target.deliver(host(9), request(host(9), 9, 4, 4)).getFirst();
        assertThat(rej.reason()).isEqualTo(RejectReason.NO_RESOURCES.code());
        assertThat(agent.counters().requestsBeyondPeerLimit).isEqualTo(1);
        assertThat(target.requestConnection(host(8), 1)).isEqualTo("Rep");
        assertThat(target.deliver(host(9), new Dreq(1, id, 5, PrivateData.EMPTY)))
                .hasSize(1);
        assertThat(target.requestConnection(host(9), 5)).isEqualTo("Rep");
    }

    /** The peer chooses in its request how long a connection stays in time-wait, up to a minute. */
    @Test
    void connectionsInTimewaitAreLimitedForAnAddress() {
        target.listen();
        for (int i = 1; i <= 2 * MAX_CONNECTIONS; i++) {
            int id = target.connect(host(9), i);
            assertThat(target.deliver(host(9), new Dreq(i, id, 5, PrivateData.EMPTY)))
                    .hasSize(1);
        }
        Rej rej = (Rej) target.deliver(host(9), request(host(9), 9, 40, 40)).getFirst();
        assertThat(rej.reason()).isEqualTo(RejectReason.NO_RESOURCES.code());
        assertThat(target.requestConnection(host(8), 1)).isEqualTo("Rep");
    }

    @Test
    void closedGateRejectsWithoutState() {
        target.listen();
        agent.gate((nowNanos, source) -> !source.equals(host(9)));
        Rej rej = (Rej) target.deliver(host(9), request(host(9), 9, 4, 4)).getFirst();
        assertThat(rej.reason()).isEqualTo(RejectReason.CONSUMER_DEFINED.code());
        assertThat(agent.connectionCount()).isZero();
        assertThat(agent.counters().requestsRefused).isEqualTo(1);
        assertThat(target.requestConnection(host(8), 1)).isEqualTo("Rep");
    }

    /**
     * As in Linux: the peer's host may have crashed and may reuse the queue pair's number. SECURITY.md describes the
     * consequences for attackers who can forge a source address.
     */
    @Test
    void requestFromThePeersAddressEndsAConnectionOnlyIfItNamesItsAdapterAndQueuePair() {
        target.listen();
        int id = target.connect(host(9), 1);
        CmConnection connection = Objects.requireNonNull(agent.table.byLocalId(id));
        // The same adapter with another queue pair, and the same queue pair of another adapter.
        target.deliver(host(9), request(host(9), host(9).low(), 77, 0x2001));
        target.deliver(host(9), request(host(9), host(9).low() + 1, 78, 0x1001));
        assertThat(agent.counters().staleConnections).isZero();
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);

        assertThat(target.deliver(host(9), request(host(9), host(9).low(), 79, 0x1001)))
                .anyMatch(Rej.class::isInstance)
                .anyMatch(Dreq.class::isInstance);
        assertThat(agent.counters().staleConnections).isEqualTo(1);
        assertThat(connection.state()).isEqualTo(CmState.DREQ_SENT);
    }

    @Test
    void requestFromAnotherAddressMakesNoConnectionStale() {
        target.listen();
        int id = target.connect(host(9), 1);
        // Any host can name the GUID, queue pair and communication ID of another host's connection.
        assertThat(target.deliver(host(8), request(host(8), host(9).low(), 77, 0x1001)))
                .singleElement()
                .isInstanceOf(Rep.class);
        assertThat(target.deliver(host(7), request(host(7), host(9).low(), 1, 0x2001)))
                .singleElement()
                .isInstanceOf(Rep.class);
        assertThat(agent.counters().staleConnections).isZero();
        assertThat(agent.table.byLocalId(id)).isNotNull();
        assertThat(Objects.requireNonNull(agent.table.byLocalId(id)).state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void repliesToUnconfirmedAddressesAreRetransmittedWithinABudget() {
        target.listen();
        int requests = 4000;
        for (int i = 0; i < requests; i++) {
            assertThat(target.requestConnection(host(10 + i), 1)).isEqualTo("Rep");
        }
        assertThat(target.sent).hasSize(requests);
        target.runUntil(Long.MAX_VALUE - 1);
        assertThat(agent.connectionCount()).isZero();
        // 1000 in a burst, then 100 a second while a reply is retransmitted, a little over 65 seconds.
        assertThat(target.sent.size() - requests).isBetween(5_000, 8_200);
        assertThat(agent.counters().retransmissionsSuppressed).isGreaterThan(10_000);
    }

    @Test
    void replyToAnAddressThatConfirmedBeforeIsRetransmitted() {
        target.listen();
        int _ = target.connect(host(9), 1);
        for (int i = 0; i < 4000; i++) {
            assertThat(target.requestConnection(host(10 + i), 1)).isEqualTo("Rep");
        }
        assertThat(target.requestConnection(host(9), 2)).isEqualTo("Rep");
        int before = target.sent.size();
        for (int i = 0; i < 4; i++) {
            target.runUntil(agent.nextDeadlineNanos());
        }
        long retransmitted = target.sent.stream()
                .skip(before)
                .filter(message -> message instanceof Rep rep && rep.remoteCommunicationId() == 2)
                .count();
        assertThat(retransmitted).isGreaterThanOrEqualTo(2);
    }

    @Test
    void numberOfTrackedAddressesIsBounded() {
        for (int i = 0; i < 100_000; i++) {
            assertThat(target.requestConnection(host(i), 1)).isEqualTo("Rej");
        }
        assertThat(agent.rememberedSources()).isEqualTo(RequestRateLimits.MAX_IDLE_SOURCES);
    }
}
