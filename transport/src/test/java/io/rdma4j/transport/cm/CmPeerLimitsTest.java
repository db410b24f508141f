package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.Gid;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What one address can have of an agent, so that something is left for the others. */
class CmPeerLimitsTest {
    private static final long SERVICE = 0x0106_1c06;
    private static final Gid SERVER = Gid.ofIpv4(0x0a58_0001);
    private static final int RATE = 10;
    private static final int BURST = 20;
    private static final int MOST_CONNECTIONS = 3;
    private static final int HALF_OPEN = 8192;

    private final CmAgent agent = new CmAgent(new CmConfiguration(
            1, new Random(1)::nextInt, HALF_OPEN, false, 250 * MILLISECOND, RATE, BURST, MOST_CONNECTIONS));
    private final List<CmMessage> answers = new ArrayList<>();
    private long now = 5 * SECOND;

    private final class Acceptor implements CmListener, CmEvents {
        @Override
        public boolean matches(CmRoute route, Req request) {
            return true;
        }

        @Override
        public @Nullable CmEvents onRequest(CmConnection connection, Req request) {
            connection.accept(now, Rep.of(0, 0, 5, 6, 1, 1, 15, false, 7, false, 0, PrivateData.EMPTY));
            return this;
        }

        @Override
        public void onReply(CmConnection connection, Rep reply) {}

        @Override
        public void onReadyToUse(CmConnection connection) {}

        @Override
        public void onReject(CmConnection connection, Rej reject) {}

        @Override
        public void onUnreachable(CmConnection connection) {}

        @Override
        public void onDisconnectRequest(CmConnection connection) {
            boolean _ = connection.disconnect(now);
        }

        @Override
        public void onDisconnected(CmConnection connection, boolean timedOut) {}

        @Override
        public void onTimewaitExit(CmConnection connection) {}
    }

    private static Gid host(int number) {
        return Gid.ofIpv4(0x0a58_0000 + number);
    }

    private void listen() {
        CmListening _ = agent.listen(SERVICE, new Acceptor(), 10_000);
    }

    private List<CmMessage> give(Gid from, CmMessage message) {
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        message.emit(mad, 0, 5);
        agent.onMad(now, from.high(), from.low(), 0, mad, 0, CmMad.LENGTH, SERVER.high(), SERVER.low());
        int before = answers.size();
        take();
        return answers.subList(before, answers.size());
    }

    private void take() {
        CmDatagram out = new CmDatagram();
        while (agent.pollTransmit(out)) {
            answers.add(Objects.requireNonNull(CmMessage.parse(out.mad, 0, CmMad.LENGTH)));
        }
    }

    private static Req request(Gid from, long guid, int id, int queuePair) {
        return Req.builder()
                .localCommunicationId(id)
                .localCaGuid(guid)
                .localQueuePair(queuePair)
                .serviceId(SERVICE)
                .primaryPath(CmPath.roce(from, SERVER, 0, 0, 64, 19))
                .build();
    }

    /** Asks; the answer's kind, or "" for none. */
    private String ask(Gid from, int id) {
        List<CmMessage> said = give(from, request(from, from.low(), id, 0x1000 + id));
        assertThat(said).hasSizeLessThanOrEqualTo(1);
        return said.isEmpty() ? "" : said.getFirst().getClass().getSimpleName();
    }

    private int connect(Gid from, int id) {
        Rep rep = (Rep) give(from, request(from, from.low(), id, 0x1000 + id)).getFirst();
        assertThat(give(from, new Rtu(id, rep.localCommunicationId(), PrivateData.EMPTY)))
                .isEmpty();
        return rep.localCommunicationId();
    }

    @Test
    void requestsBeyondTheRateOfAnAddressAreDroppedAndOthersAreServed() {
        for (int i = 0; i < BURST; i++) {
            assertThat(ask(host(9), 1 + i)).isEqualTo("Rej");
        }
        assertThat(ask(host(9), 100)).isEmpty();
        assertThat(agent.counters().rateLimitedRequests).isEqualTo(1);
        assertThat(ask(host(8), 1)).isEqualTo("Rej");
        now += SECOND / RATE;
        assertThat(ask(host(9), 101)).isEqualTo("Rej");
        assertThat(ask(host(9), 102)).isEmpty();
        now += 60 * SECOND;
        for (int i = 0; i < BURST; i++) {
            assertThat(ask(host(9), 200 + i)).isEqualTo("Rej");
        }
        assertThat(ask(host(9), 300))
                .as("a long silence fills the bucket and no more")
                .isEmpty();
    }

    @Test
    void questionsForDatagramServicesCountToo() {
        for (int i = 0; i < BURST; i++) {
            assertThat(give(host(9), new SidrReq(1 + i, 0xffff, SERVICE, PrivateData.EMPTY)))
                    .hasSize(1);
        }
        assertThat(give(host(9), new SidrReq(100, 0xffff, SERVICE, PrivateData.EMPTY)))
                .isEmpty();
        assertThat(agent.counters().rateLimitedRequests).isEqualTo(1);
    }

    @Test
    void processesOfOneAddressDoNotLimitEachOther() {
        for (int i = 0; i < 10 * BURST; i++) {
            assertThat(ask(SERVER, 1 + i)).isEqualTo("Rej");
        }
        listen();
        for (int i = 0; i < 2 * MOST_CONNECTIONS; i++) {
            assertThat(ask(SERVER, 1000 + i)).isEqualTo("Rep");
        }
    }

    @Test
    void connectionsOfAnAddressAreLimitedUntilOneEnds() {
        listen();
        int id = connect(host(9), 1);
        int _ = connect(host(9), 2);
        int _ = connect(host(9), 3);
        Rej rej = (Rej) give(host(9), request(host(9), 9, 4, 4)).getFirst();
        assertThat(rej.reason()).isEqualTo(RejectReason.NO_RESOURCES.number());
        assertThat(agent.counters().requestsBeyondPeerLimit).isEqualTo(1);
        assertThat(ask(host(8), 1)).isEqualTo("Rep");
        assertThat(give(host(9), new Dreq(1, id, 5, PrivateData.EMPTY))).hasSize(1);
        assertThat(ask(host(9), 5)).isEqualTo("Rep");
    }

    @Test
    void closedGateRejectsAndKeepsNothing() {
        listen();
        agent.gate((nowNanos, source) -> !source.equals(host(9)));
        Rej rej = (Rej) give(host(9), request(host(9), 9, 4, 4)).getFirst();
        assertThat(rej.reason()).isEqualTo(RejectReason.CONSUMER_DEFINED.number());
        assertThat(agent.connectionCount()).isZero();
        assertThat(agent.counters().requestsRefused).isEqualTo(1);
        assertThat(ask(host(8), 1)).isEqualTo("Rep");
    }

    @Test
    void requestFromAnotherAddressMakesNoConnectionStale() {
        listen();
        int id = connect(host(9), 1);
        // The GUID, queue pair and communication ID of another host's connection; nobody is kept from saying them.
        assertThat(give(host(8), request(host(8), host(9).low(), 77, 0x1001)))
                .singleElement()
                .isInstanceOf(Rep.class);
        assertThat(give(host(7), request(host(7), host(9).low(), 1, 0x2001)))
                .singleElement()
                .isInstanceOf(Rep.class);
        assertThat(agent.counters().staleConnections).isZero();
        assertThat(agent.table.byLocalId(id)).isNotNull();
        assertThat(Objects.requireNonNull(agent.table.byLocalId(id)).state()).isEqualTo(CmState.ESTABLISHED);
    }

    @Test
    void repliesToAddressesThatNeverAnsweredAreRepeatedWithinABudget() {
        listen();
        int requests = 4000;
        for (int i = 0; i < requests; i++) {
            assertThat(ask(host(10 + i), 1)).isEqualTo("Rep");
        }
        assertThat(answers).hasSize(requests);
        while (agent.nextDeadlineNanos() < Long.MAX_VALUE) {
            now = Math.max(now, agent.nextDeadlineNanos());
            agent.onDeadline(now);
            take();
        }
        assertThat(agent.connectionCount()).isZero();
        // A thousand at once, a hundred a second for the 65 seconds and a bit that a reply is repeated.
        assertThat(answers.size() - requests).isBetween(5_000, 8_200);
        assertThat(agent.counters().repetitionsSaved).isGreaterThan(10_000);
    }

    @Test
    void replyIsRepeatedToAnAddressThatHasAnsweredBefore() {
        listen();
        int _ = connect(host(9), 1);
        for (int i = 0; i < 4000; i++) {
            assertThat(ask(host(10 + i), 1)).isEqualTo("Rep");
        }
        assertThat(ask(host(9), 2)).isEqualTo("Rep");
        int before = answers.size();
        for (int i = 0; i < 4; i++) {
            now = agent.nextDeadlineNanos();
            agent.onDeadline(now);
            take();
        }
        long toFriend = answers.stream()
                .skip(before)
                .filter(message -> message instanceof Rep rep && rep.remoteCommunicationId() == 2)
                .count();
        assertThat(toFriend).isGreaterThanOrEqualTo(2);
    }

    @Test
    void addressesAreForgottenWhenThereAreTooMany() {
        for (int i = 0; i < 100_000; i++) {
            assertThat(ask(host(i), 1)).isEqualTo("Rej");
        }
        assertThat(agent.rememberedSources()).isEqualTo(Sources.MOST);
    }
}
