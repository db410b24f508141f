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

/** Resolution of datagram services (SIDR), on both sides. */
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
    private final List<String> reports = new ArrayList<>();
    private final List<ServiceRequest> requests = new ArrayList<>();

    private final ServiceEvents events = new ServiceEvents() {
        @Override
        public void onReply(ServiceResolution resolution, SidrRep reply) {
            reports.add("status " + reply.status() + " queue pair " + reply.queuePair());
        }

        @Override
        public void onUnreachable(ServiceResolution resolution) {
            reports.add("unreachable");
        }
    };

    private final ServiceListener listener = new ServiceListener() {
        @Override
        public boolean matches(CmRoute route, SidrReq message) {
            return message.privateData().toByteArray()[0] != 66;
        }

        @Override
        public boolean onRequest(ServiceRequest request, SidrReq message) {
            requests.add(request);
            return true;
        }
    };

    private ServiceResolution resolve(int firstByte) {
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
    void acceptedResolutionReportsTheQueuePair() {
        server.serve(SERVICE, listener, 5);
        ServiceResolution resolution = resolve(1);
        exchange();
        assertThat(requests).hasSize(1);
        requests.getFirst().answer(now, SidrRep.STATUS_VALID, 0x123, KEY, PrivateData.EMPTY);
        exchange();
        assertThat(reports).containsExactly("status 0 queue pair 291");
        assertThat(resolution.hasEnded()).isTrue();
        assertThat(client.resolutionCount()).isZero();
        assertThat(server.waitingServiceRequests()).isZero();
        assertThat(client.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void missingServiceIsStatusOneAndRejectedRequestIsStatusTwo() {
        resolve(1);
        exchange();
        server.serve(SERVICE, listener, 5);
        resolve(66);
        exchange();
        assertThat(reports).containsExactly("status 1 queue pair 0", "status 2 queue pair 0");
        assertThat(requests).isEmpty();
    }

    @Test
    void lostReplyIsRepeatedWithoutAskingTheListener() {
        server.serve(SERVICE, listener, 5);
        resolve(1);
        List<MemorySegment> request = sent(client);
        request.forEach(this::toServer);
        requests.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        MemorySegment lost = sent(server).getFirst();
        now += SECOND;
        client.onDeadline(now);
        sent(client).forEach(this::toServer);
        List<MemorySegment> again = sent(server);
        assertThat(requests).hasSize(1);
        assertThat(again).hasSize(1);
        assertThat(again.getFirst().mismatch(lost)).isEqualTo(-1);
        again.forEach(this::toClient);
        again.forEach(this::toClient); // a duplicate reply has no effect
        assertThat(reports).containsExactly("status 0 queue pair 9");
    }

    @Test
    void silentPeerIsGivenUpAtTheSameTimeAsByLinux() {
        long began = now;
        resolve(1);
        int requests = 0;
        while (client.nextDeadlineNanos() != Long.MAX_VALUE) {
            requests += sent(client).size();
            now = client.nextDeadlineNanos();
            client.onDeadline(now);
        }
        assertThat(reports).containsExactly("unreachable");
        assertThat((now - began) / (double) SECOND).isBetween(65.0, 69.0);
        assertThat(requests).isBetween(16, 24);
        assertThat(client.resolutionCount()).isZero();
    }

    @Test
    void replyFromAnotherAddressIsIgnored() {
        server.serve(SERVICE, listener, 5);
        resolve(1);
        sent(client).forEach(this::toServer);
        requests.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        MemorySegment answer = sent(server).getFirst();
        Gid other = Gid.ofIpv4(0x0a58_0003);
        client.onMad(now, other.high(), other.low(), 0, answer, 0, CmMad.LENGTH, A.high(), A.low());
        assertThat(reports).isEmpty();
        toClient(answer);
        assertThat(reports).hasSize(1);
    }

    @Test
    void cancelledResolutionReportsNothing() {
        server.serve(SERVICE, listener, 5);
        ServiceResolution resolution = resolve(1);
        exchange();
        resolution.cancel();
        requests.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        exchange();
        assertThat(reports).isEmpty();
        assertThat(client.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void destroyedRequestIsRejectedAndAnsweredOnlyOnce() {
        server.serve(SERVICE, listener, 5);
        resolve(1);
        exchange();
        ServiceRequest request = requests.getFirst();
        request.destroy(now);
        request.destroy(now);
        exchange();
        assertThat(reports).containsExactly("status 2 queue pair 0");
        assertThatThrownBy(() -> request.answer(now, 0, 9, KEY, PrivateData.EMPTY))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("answered already");
    }

    @Test
    void requestsBeyondTheBacklogAreDroppedAndRetransmitted() {
        server.serve(SERVICE, listener, 1);
        resolve(1);
        resolve(2);
        exchange();
        assertThat(requests).hasSize(1);
        requests.getFirst().releaseBacklog();
        now += SECOND;
        client.onDeadline(now);
        exchange();
        assertThat(requests).hasSize(2);
    }

    @Test
    void numberOfRememberedRepliesIsBounded() {
        server.serve(SERVICE, listener, 5);
        for (int i = 0; i < 5000; i++) {
            resolve(1);
            sent(client).forEach(this::toServer);
            requests.removeFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
            sent(server).forEach(this::toClient);
        }
        assertThat(reports).hasSize(5000);
        assertThat(server.services.remembered()).isEqualTo(1024);
        now += 71 * SECOND;
        resolve(1);
        exchange();
        assertThat(server.services.remembered()).isZero();
    }

    @Test
    void everyResolutionIsAnsweredExactlyOnceUnderLoss() {
        Random random = new Random(5);
        server.serve(SERVICE, listener, 1000);
        int count = 300;
        for (int i = 0; i < count; i++) {
            resolve(1);
        }
        List<MemorySegment> inFlight = new ArrayList<>();
        while (client.resolutionCount() > 0) {
            loseOrCopy(random, sent(client)).forEach(this::toServer);
            while (!requests.isEmpty()) {
                requests.removeFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
            }
            inFlight.addAll(loseOrCopy(random, sent(server)));
            while (!inFlight.isEmpty()) {
                toClient(inFlight.remove(random.nextInt(inFlight.size())));
            }
            if (client.nextDeadlineNanos() != Long.MAX_VALUE) {
                now = client.nextDeadlineNanos();
                client.onDeadline(now);
            }
        }
        assertThat(reports).hasSize(count).containsOnly("status 0 queue pair 9");
    }

    private static List<MemorySegment> loseOrCopy(Random random, List<MemorySegment> mads) {
        List<MemorySegment> arrived = new ArrayList<>();
        for (MemorySegment mad : mads) {
            for (int copies = random.nextInt(4); copies > 1; copies--) {
                arrived.add(mad);
            }
        }
        return arrived;
    }

    // ---- compared with Linux ----

    @ParameterizedTest
    @ValueSource(strings = {"udaddy"})
    void requestAndReplyMatchLinux(String file) {
        CapturedMad capturedRequest = first(file, SidrReq.class);
        CapturedMad answer = first(file, SidrRep.class);
        SidrReq request = (SidrReq) capturedRequest.message();
        SidrRep reply = (SidrRep) answer.message();
        nextId = request.requestId();
        client.resolve(
                now,
                new CmRoute(capturedRequest.from(), capturedRequest.to(), 0),
                request.serviceId(),
                request.privateData(),
                events);
        assertSame(sent(client).getFirst(), capturedRequest.mad());
        if (reply.status() == SidrRep.STATUS_VALID) {
            server.serve(request.serviceId(), listener, 5);
        }
        server.onMad(
                now,
                capturedRequest.from().high(),
                capturedRequest.from().low(),
                0,
                capturedRequest.mad(),
                0,
                CmMad.LENGTH,
                capturedRequest.to().high(),
                capturedRequest.to().low());
        if (reply.status() == SidrRep.STATUS_VALID) {
            requests.getFirst().answer(now, 0, reply.queuePair(), reply.queueKey(), reply.privateData());
        }
        MemorySegment ours = sent(server).getFirst();
        assertThat(ours.mismatch(answer.mad())).as("reply of " + file).isEqualTo(-1);
    }

    private static CapturedMad first(String file, Class<?> kind) {
        return CapturedMads.read(file).stream()
                .filter(each -> kind.isInstance(each.message()))
                .findFirst()
                .orElseThrow();
    }

    /** Asserts equality except for the transaction ID, which is not matched. */
    private static void assertSame(MemorySegment ours, MemorySegment theirs) {
        assertThat(ours.asSlice(0, 8).mismatch(theirs.asSlice(0, 8))).isEqualTo(-1);
        assertThat(ours.asSlice(16).mismatch(theirs.asSlice(16))).isEqualTo(-1);
        assertThat(ours.byteSize()).isGreaterThan(HEADER);
    }
}
