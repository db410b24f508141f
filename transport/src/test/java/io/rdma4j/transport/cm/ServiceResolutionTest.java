package io.rdma4j.transport.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.transport.cm.CapturedMads.CapturedMad;
import io.rdma4j.wire.Gid;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Laws of asking for datagram services and of answering. */
class ServiceResolutionTest {
    private static final Gid A = Gid.ofIpv4(0x0a58_0001);
    private static final Gid B = Gid.ofIpv4(0x0a58_0002);
    private static final long SERVICE = 0x0111_0000_1c4bL;
    private static final int KEY = 0x0123_4567;
    private static final long SECOND = 1_000_000_000;
    private static final int HEADER = 24;

    private int nextId = 7;
    private long now = 1000 * SECOND;

    private CmAgent agent(long firstRetransmitNanos) {
        return new CmAgent(new CmConfiguration(1, () -> nextId++, 100, false, firstRetransmitNanos));
    }

    private final CmAgent client = agent(CmConfiguration.DEFAULT_FIRST_RETRANSMIT_NANOS);
    private final CmAgent server = agent(CmConfiguration.DEFAULT_FIRST_RETRANSMIT_NANOS);
    private final List<String> told = new ArrayList<>();
    private final List<ServiceRequest> asked = new ArrayList<>();

    private final ServiceEvents events = new ServiceEvents() {
        @Override
        public void onReply(ServiceResolution resolution, SidrRep reply) {
            told.add("status " + reply.status() + " queue pair " + reply.queuePair());
        }

        @Override
        public void onUnreachable(ServiceResolution resolution) {
            told.add("unreachable");
        }
    };

    private final ServiceListener listener = new ServiceListener() {
        @Override
        public boolean matches(CmRoute route, SidrReq message) {
            return message.privateData().toByteArray()[0] != 66;
        }

        @Override
        public boolean onRequest(ServiceRequest request, SidrReq message) {
            asked.add(request);
            return true;
        }
    };

    private ServiceResolution ask(int firstByte) {
        PrivateData data = PrivateData.of(new byte[] {(byte) firstByte});
        return client.resolve(now, new CmRoute(A, B, 0), SERVICE, data, events);
    }

    private List<MemorySegment> sent(CmAgent agent) {
        List<MemorySegment> all = new ArrayList<>();
        CmDatagram out = new CmDatagram();
        while (agent.pollTransmit(out)) {
            all.add(out.mad);
        }
        return all;
    }

    private void toServer(MemorySegment mad) {
        server.onMad(
                now,
                A.high(),
                A.low(),
                0,
                mad,
                0,
                mad.byteSize() > CmMad.LENGTH ? CmMad.LENGTH : (int) mad.byteSize(),
                B.high(),
                B.low());
    }

    private void toClient(MemorySegment mad) {
        client.onMad(now, B.high(), B.low(), 0, mad, 0, CmMad.LENGTH, A.high(), A.low());
    }

    private void exchange() {
        sent(client).forEach(this::toServer);
        sent(server).forEach(this::toClient);
    }

    @Test
    void acceptedServiceIsToldWithItsQueuePair() {
        server.serve(SERVICE, listener, 5);
        ServiceResolution resolution = ask(1);
        exchange();
        assertThat(asked).hasSize(1);
        asked.getFirst().answer(now, SidrRep.STATUS_VALID, 0x123, KEY, PrivateData.EMPTY);
        exchange();
        assertThat(told).containsExactly("status 0 queue pair 291");
        assertThat(resolution.hasEnded()).isTrue();
        assertThat(client.resolutionCount()).isZero();
        assertThat(server.waitingServiceRequests()).isZero();
        assertThat(client.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void nobodyServesIsStatusOneAndUnwantedIsStatusTwo() {
        ask(1);
        exchange();
        server.serve(SERVICE, listener, 5);
        ask(66);
        exchange();
        assertThat(told).containsExactly("status 1 queue pair 0", "status 2 queue pair 0");
        assertThat(asked).isEmpty();
    }

    @Test
    void lostAnswerIsGivenAgainWithoutAskingTheOwner() {
        server.serve(SERVICE, listener, 5);
        ask(1);
        List<MemorySegment> request = sent(client);
        request.forEach(this::toServer);
        asked.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        MemorySegment lost = sent(server).getFirst();
        now += SECOND;
        client.onDeadline(now);
        sent(client).forEach(this::toServer);
        List<MemorySegment> again = sent(server);
        assertThat(asked).hasSize(1);
        assertThat(again).hasSize(1);
        assertThat(again.getFirst().mismatch(lost)).isEqualTo(-1);
        again.forEach(this::toClient);
        again.forEach(this::toClient); // a copy of the answer changes nothing
        assertThat(told).containsExactly("status 0 queue pair 9");
    }

    @Test
    void silentPeerIsGivenUpWhenLinuxWouldBe() {
        long began = now;
        ask(1);
        int requests = 0;
        while (client.nextDeadlineNanos() != Long.MAX_VALUE) {
            requests += sent(client).size();
            now = client.nextDeadlineNanos();
            client.onDeadline(now);
        }
        assertThat(told).containsExactly("unreachable");
        assertThat((now - began) / (double) SECOND).isBetween(65.0, 69.0);
        assertThat(requests).isBetween(16, 24);
        assertThat(client.resolutionCount()).isZero();
    }

    @Test
    void answerOfAStrangerIsIgnored() {
        server.serve(SERVICE, listener, 5);
        ask(1);
        sent(client).forEach(this::toServer);
        asked.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        MemorySegment answer = sent(server).getFirst();
        Gid stranger = Gid.ofIpv4(0x0a58_0003);
        client.onMad(now, stranger.high(), stranger.low(), 0, answer, 0, CmMad.LENGTH, A.high(), A.low());
        assertThat(told).isEmpty();
        toClient(answer);
        assertThat(told).hasSize(1);
    }

    @Test
    void cancelledResolutionHearsNothing() {
        server.serve(SERVICE, listener, 5);
        ServiceResolution resolution = ask(1);
        exchange();
        resolution.cancel();
        asked.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        exchange();
        assertThat(told).isEmpty();
        assertThat(client.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void destroyedRequestIsRejectedAndAnsweredOnlyOnce() {
        server.serve(SERVICE, listener, 5);
        ask(1);
        exchange();
        ServiceRequest request = asked.getFirst();
        request.destroy(now);
        request.destroy(now);
        exchange();
        assertThat(told).containsExactly("status 2 queue pair 0");
        assertThatThrownBy(() -> request.answer(now, 0, 9, KEY, PrivateData.EMPTY))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("answered already");
    }

    @Test
    void requestsBeyondTheBacklogAreDroppedAndComeAgain() {
        server.serve(SERVICE, listener, 1);
        ask(1);
        ask(2);
        exchange();
        assertThat(asked).hasSize(1);
        asked.getFirst().releaseBacklog();
        now += SECOND;
        client.onDeadline(now);
        exchange();
        assertThat(asked).hasSize(2);
    }

    @Test
    void answersAreForgottenSoThatNothingGrows() {
        server.serve(SERVICE, listener, 5);
        for (int i = 0; i < 5000; i++) {
            ask(1);
            sent(client).forEach(this::toServer);
            asked.removeFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
            sent(server).forEach(this::toClient);
        }
        assertThat(told).hasSize(5000);
        assertThat(server.services.remembered()).isEqualTo(1024);
        now += 71 * SECOND;
        ask(1);
        exchange();
        assertThat(server.services.remembered()).isZero();
    }

    @Test
    void stormUnderLossEndsWithExactlyOneWordForEach() {
        Random random = new Random(5);
        server.serve(SERVICE, listener, 1000);
        int count = 300;
        for (int i = 0; i < count; i++) {
            ask(1);
        }
        List<MemorySegment> flying = new ArrayList<>();
        while (client.resolutionCount() > 0) {
            pass(random, sent(client)).forEach(this::toServer);
            while (!asked.isEmpty()) {
                asked.removeFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
            }
            flying.addAll(pass(random, sent(server)));
            while (!flying.isEmpty()) {
                toClient(flying.remove(random.nextInt(flying.size())));
            }
            if (client.nextDeadlineNanos() != Long.MAX_VALUE) {
                now = client.nextDeadlineNanos();
                client.onDeadline(now);
            }
        }
        assertThat(told).hasSize(count).containsOnly("status 0 queue pair 9");
    }

    private static List<MemorySegment> pass(Random random, List<MemorySegment> mads) {
        List<MemorySegment> arrived = new ArrayList<>();
        for (MemorySegment mad : mads) {
            for (int copies = random.nextInt(4); copies > 1; copies--) {
                arrived.add(mad);
            }
        }
        return arrived;
    }

    // ---- as Linux

    @ParameterizedTest
    @ValueSource(strings = {"udaddy"})
    void saysWhatLinuxSays(String file) {
        CapturedMad question = first(file, SidrReq.class);
        CapturedMad answer = first(file, SidrRep.class);
        SidrReq asks = (SidrReq) question.message();
        SidrRep says = (SidrRep) answer.message();
        nextId = asks.requestId();
        client.resolve(
                now, new CmRoute(question.from(), question.to(), 0), asks.serviceId(), asks.privateData(), events);
        assertSame(sent(client).getFirst(), question.mad());
        if (says.status() == SidrRep.STATUS_VALID) {
            server.serve(asks.serviceId(), listener, 5);
        }
        server.onMad(
                now,
                question.from().high(),
                question.from().low(),
                0,
                question.mad(),
                0,
                CmMad.LENGTH,
                question.to().high(),
                question.to().low());
        if (says.status() == SidrRep.STATUS_VALID) {
            asked.getFirst().answer(now, 0, says.queuePair(), says.queueKey(), says.privateData());
        }
        MemorySegment ours = sent(server).getFirst();
        assertThat(ours.mismatch(answer.mad())).as("answer of " + file).isEqualTo(-1);
    }

    private static CapturedMad first(String file, Class<?> kind) {
        return CapturedMads.read(file).stream()
                .filter(each -> kind.isInstance(each.message()))
                .findFirst()
                .orElseThrow();
    }

    /** Equal but for the transaction ID, on which nobody matches. */
    private static void assertSame(MemorySegment ours, MemorySegment theirs) {
        assertThat(ours.asSlice(0, 8).mismatch(theirs.asSlice(0, 8))).isEqualTo(-1);
        assertThat(ours.asSlice(16).mismatch(theirs.asSlice(16))).isEqualTo(-1);
        assertThat(ours.byteSize()).isGreaterThan(HEADER);
    }
}
