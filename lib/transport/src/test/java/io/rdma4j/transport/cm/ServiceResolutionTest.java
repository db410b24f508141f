package io.rdma4j.transport.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.transport.cm.CapturedMads.CapturedMad;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmRoute;
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

    private void handleEvents(CmAgent agent) {
        AgentEvent event = agent.pollEvent();
        while (event != null) {
            handle(event);
            event = agent.pollEvent();
        }
    }

    private void handle(AgentEvent event) {
        switch (event) {
            case AgentEvent.ServiceRequested requested -> requests.add(requested.request());
            case AgentEvent.ServiceReplied replied -> {
                assertThat(replied.resolution().attachment()).isSameAs(this);
                SidrRep reply = replied.reply();
                reports.add("status " + reply.status() + " queue pair " + reply.queuePair());
            }
            case AgentEvent.ServiceUnreachable _ -> reports.add("unreachable");
            case AgentEvent.OfConnection _ -> throw new AssertionError("there is no connection: " + event);
        }
    }

    private static RequestFilter.Verdict verdict(CmRoute route, SidrReq message) {
        return message.privateData().toByteArray()[0] == 66
                ? RequestFilter.Verdict.DECLINE
                : RequestFilter.Verdict.TAKE;
    }

    private void serve(long serviceId, int backlog) {
        ListenedService<SidrReq> _ = server.serve(serviceId, ServiceResolutionTest::verdict, backlog, this);
    }

    private ServiceResolution resolve(int firstByte) {
        PrivateData data = PrivateData.of(new byte[] {(byte) firstByte});
        return client.resolve(now, new CmRoute(A, B, 0), SERVICE, data, this);
    }

    private List<MemorySegment> sent(CmAgent agent) {
        List<MemorySegment> all = new ArrayList<>();
        CmDatagram out = agent.pollTransmit();
        while (out != null) {
            all.add(out.mad());
            out = agent.pollTransmit();
        }
        return all;
    }

    private void toServer(MemorySegment mad) {
        server.onMad(now, CmFabric.received(A, B, mad));
        handleEvents(server);
    }

    private void toClient(MemorySegment mad) {
        client.onMad(now, CmFabric.received(B, A, mad));
        handleEvents(client);
    }

    private void fireDeadlines() {
        client.onDeadline(now);
        handleEvents(client);
    }

    private void exchange() {
        sent(client).forEach(this::toServer);
        sent(server).forEach(this::toClient);
    }

    @Test
    void acceptedResolutionReportsTheQueuePair() {
        serve(SERVICE, 5);
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
        serve(SERVICE, 5);
        resolve(66);
        exchange();
        assertThat(reports).containsExactly("status 1 queue pair 0", "status 2 queue pair 0");
        assertThat(requests).isEmpty();
    }

    @Test
    void lostReplyIsRepeatedWithoutAskingTheListener() {
        serve(SERVICE, 5);
        resolve(1);
        List<MemorySegment> request = sent(client);
        request.forEach(this::toServer);
        requests.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        MemorySegment lost = sent(server).getFirst();
        now += SECOND;
        fireDeadlines();
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
            fireDeadlines();
        }
        assertThat(reports).containsExactly("unreachable");
        assertThat((now - began) / (double) SECOND).isBetween(65.0, 69.0);
        assertThat(requests).isBetween(16, 24);
        assertThat(client.resolutionCount()).isZero();
    }

    @Test
    void replyFromAnotherAddressIsIgnored() {
        serve(SERVICE, 5);
        resolve(1);
        sent(client).forEach(this::toServer);
        requests.getFirst().answer(now, SidrRep.STATUS_VALID, 9, KEY, PrivateData.EMPTY);
        MemorySegment answer = sent(server).getFirst();
        Gid other = Gid.ofIpv4(0x0a58_0003);
        client.onMad(now, CmFabric.received(other, A, answer));
        handleEvents(client);
        assertThat(reports).isEmpty();
        toClient(answer);
        assertThat(reports).hasSize(1);
    }

    @Test
    void cancelledResolutionReportsNothing() {
        serve(SERVICE, 5);
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
        serve(SERVICE, 5);
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
        serve(SERVICE, 1);
        resolve(1);
        resolve(2);
        exchange();
        assertThat(requests).hasSize(1);
        requests.getFirst().releaseBacklog();
        now += SECOND;
        fireDeadlines();
        exchange();
        assertThat(requests).hasSize(2);
    }

    @Test
    void numberOfRememberedRepliesIsBounded() {
        serve(SERVICE, 5);
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
        serve(SERVICE, 1000);
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
                fireDeadlines();
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
                this);
        assertSame(sent(client).getFirst(), capturedRequest.mad());
        if (reply.status() == SidrRep.STATUS_VALID) {
            serve(request.serviceId(), 5);
        }
        server.onMad(now, CmFabric.received(capturedRequest.from(), capturedRequest.to(), capturedRequest.mad()));
        handleEvents(server);
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
