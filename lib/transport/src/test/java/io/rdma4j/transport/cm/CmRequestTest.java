package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.Wire;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Requests that are accepted, rejected and dropped, and the state that each creates. */
class CmRequestTest {
    private static final Gid OTHER_ADDRESS = Gid.ofIpv4(0x0a58_0063);

    private final CmFabric fabric = new CmFabric();
    private final CmHost client = new CmHost(fabric, 1);
    private final CmHost server = new CmHost(fabric, 2);

    private ReqBuilder request(int id, int queuePair) {
        return Req.builder()
                .localCommunicationId(id)
                .localCaGuid(77)
                .localQueuePair(queuePair)
                .serviceId(CmHost.SERVICE)
                .primaryPath(CmPath.roce(client.address, server.address, 0, 0, 64, 19));
    }

    private void assertNoState() {
        assertThat(server.agent.connectionCount()).isZero();
        assertThat(server.agent.table.isEmpty()).isTrue();
        assertThat(server.requested).isEmpty();
        assertThat(server.agent.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    private CmDatagram onlyResponse() {
        CmDatagram out = requireNonNull(server.agent.pollTransmit());
        assertThat(server.agent.pollTransmit()).isNull();
        return out;
    }

    private void deliver(Gid from, CmMessage request) {
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        request.emit(mad, 0, 5);
        server.agent.onMad(fabric.now, CmFabric.received(from, server.address, mad));
        server.handleEvents();
    }

    private Rej rejectOf(Req request) {
        deliver(client.address, request);
        CmDatagram out = onlyResponse();
        assertThat(CmMad.transactionId(out.mad(), 0)).isEqualTo(5);
        assertThat(out.route().remote()).isEqualTo(client.address);
        assertThat(out.route().local()).isEqualTo(server.address);
        return (Rej) requireNonNull(CmMessage.parse(out.mad(), 0, CmMad.LENGTH));
    }

    @Test
    void requestWithoutAListenerIsRejectedWithoutState() {
        Rej rej = rejectOf(request(9, 1).build());
        assertThat(rej.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID.code());
        assertThat(rej.localCommunicationId()).isZero();
        assertThat(rej.remoteCommunicationId()).isEqualTo(9);
        assertNoState();
    }

    @Test
    void requestForAClosedListenerIsRejected() {
        ListenedService<Req> listening = server.listen();
        listening.close();
        listening.close();
        assertThat(rejectOf(request(9, 1).build()).reason()).isEqualTo(8);
    }

    @Test
    void requestThatNoListenerMatchesIsRejectedAsConsumerDefined() {
        server.listen();
        server.matchesRequests = false;
        Rej rej = rejectOf(request(9, 1).build());
        assertThat(rej.reason()).isEqualTo(RejectReason.CONSUMER_DEFINED.code());
        assertThat(rej.localCommunicationId()).isZero();
        assertNoState();
    }

    @Test
    void listenersOfOneServiceAreAskedInOrderUntilOneMatches() {
        CmHost other = new CmHost(fabric, 3);
        other.matchesRequests = false;
        other.listen(server.agent, CmHost.SERVICE, 1);
        server.listen();
        client.connect(server);
        fabric.run(10 * MILLISECOND);
        assertThat(server.requested).hasSize(1);
        assertThat(other.requested).isEmpty();
    }

    @Test
    void requestOfAnotherPartitionIsRejected() {
        server.listen();
        Rej rej = rejectOf(request(9, 1).partitionKey(0x1234).build());
        assertThat(rej.reason()).isEqualTo(RejectReason.INVALID_GID.code());
        assertNoState();
    }

    @Test
    void limitedPartitionMemberIsAccepted() {
        server.listen();
        deliver(client.address, request(9, 1).partitionKey(0x7fff).build());
        assertThat(server.requested).hasSize(1);
    }

    @Test
    void requestForAnotherAddressIsRejectedWithTheOwnAddress() {
        server.listen();
        Rej rej = rejectOf(request(9, 1)
                .primaryPath(CmPath.roce(client.address, OTHER_ADDRESS, 0, 0, 64, 19))
                .build());
        assertThat(rej.reason()).isEqualTo(RejectReason.INVALID_GID.code());
        assertThat(rej.additionalInformationLength()).isEqualTo(16);
        MemorySegment information =
                MemorySegment.ofArray(rej.additionalInformation().toByteArray());
        assertThat(Wire.gid(information, 0)).isEqualTo(server.address);
        assertNoState();
    }

    @Test
    void unusableAlternatePathIsRejected() {
        server.listen();
        Rej rej = rejectOf(request(9, 1)
                .alternatePath(CmPath.roce(client.address, OTHER_ADDRESS, 0, 0, 64, 19))
                .build());
        assertThat(rej.reason()).isEqualTo(RejectReason.INVALID_ALTERNATE_GID.code());
        assertNoState();
    }

    @Test
    void requestWithAForeignSenderAddressIsDropped() {
        server.listen();
        deliver(OTHER_ADDRESS, request(9, 1).build());
        assertThat(server.agent.pollTransmit()).isNull();
        assertThat(server.agent.counters().foreignRequestsDropped).isEqualTo(1);
        assertNoState();
    }

    @Test
    void foreignSenderAddressesAreServedIfAllowed() {
        CmAgent permissive = new CmAgent(new CmConfiguration(5, new Random(1)::nextInt, 10, true, 250 * MILLISECOND));
        server.listen(permissive, CmHost.SERVICE, 1);
        server.accepts = false;
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        request(9, 1).build().emit(mad, 0, 5);
        permissive.onMad(0, CmFabric.received(OTHER_ADDRESS, server.address, mad));
        server.handleEvents(permissive);
        CmConnection connection = server.requested.getFirst();
        connection.accept(0, CmHost.reply(4));
        CmDatagram out = requireNonNull(permissive.pollTransmit());
        assertThat(out.route().remote())
                .as("as by Linux, to the address in the REQ")
                .isEqualTo(client.address);
    }

    @Test
    void messagesFromOtherAddressesDoNotAffectAConnection() {
        server.listen();
        CmConnection connection = client.connect(server);
        fabric.run(10 * MILLISECOND);
        CmConnection passive = server.requested.getFirst();
        int queuePair = passive.remoteQueuePair();
        int local = passive.localId();
        int remote = connection.localId();
        fabric.inject(OTHER_ADDRESS, client.address, new Dreq(local, remote, queuePair, PrivateData.EMPTY), 1);
        Rej rej = Rej.of(local, remote, Rej.MESSAGE_OTHER, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
        fabric.inject(OTHER_ADDRESS, client.address, rej, 1);
        assertThat(connection.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(client.agent.counters().foreignMessagesDropped).isEqualTo(2);
    }

    @Test
    void requestBeyondTheBacklogIsDroppedSilentlyAndServedLater() {
        server.accepts = false;
        ListenedService<Req> listening = server.listen(server.agent, CmHost.SERVICE, 2);
        for (int i = 0; i < 5; i++) {
            client.connect(server);
        }
        fabric.run(10 * MILLISECOND);
        assertThat(server.requested).hasSize(2);
        assertThat(listening.waiting()).isEqualTo(2);
        assertThat(server.agent.connectionCount()).isEqualTo(2);
        assertThat(server.agent.counters().backlogDropped).isEqualTo(3);
        assertThat(fabric.sent).doesNotContainKey(CmAttribute.REJ);

        server.requested.getFirst().accept(fabric.now, CmHost.reply(server.newQueuePair()));
        server.requested.getLast().releaseBacklog();
        server.requested.getLast().releaseBacklog();
        assertThat(listening.waiting()).isZero();
        server.accepts = true;
        fabric.run(10 * SECOND);
        assertThat(server.requested).hasSize(5);
        assertThat(client.events).containsOnly("reply").hasSize(4);
    }

    @Test
    void rejectFreesTheBacklog() {
        server.accepts = false;
        ListenedService<Req> listening = server.listen(server.agent, CmHost.SERVICE, 1);
        for (int i = 0; i < 10_000; i++) {
            client.connect(server);
            fabric.run(2 * MILLISECOND);
            server.requested.getLast().reject(fabric.now, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            fabric.run(2 * MILLISECOND);
        }
        assertThat(listening.waiting()).isZero();
        assertThat(client.events).hasSize(10_000).containsOnly("reject 28");
        client.assertNothingLeft();
        server.assertNothingLeft();
    }

    @Test
    void withdrawnRequestsKeepTheirPlacesUntilTheOwnerTakesOrDiscardsThem() {
        server.accepts = false;
        ListenedService<Req> listening = server.listen(server.agent, CmHost.SERVICE, 2);
        for (int i = 1; i <= 100; i++) {
            deliver(client.address, request(i, i).build());
            deliver(client.address, Rej.timeout(i, Rej.MESSAGE_OTHER, 77));
        }
        assertThat(server.requested)
                .hasSize(100)
                .extracting(CmConnection::state)
                .containsOnly(CmState.IDLE);
        assertThat(server.events).filteredOn("discarded"::equals).hasSize(98);
        assertThat(listening.waiting()).isEqualTo(2);
        assertThat(server.agent.halfOpenCount()).isEqualTo(2);
        assertThat(server.agent.counters().withdrawnDiscarded).isEqualTo(98);

        server.requested.get(98).releaseBacklog();
        assertThat(server.requested.get(99).destroy(fabric.now)).isTrue();
        assertThat(listening.waiting()).isZero();
        server.assertNothingLeft();
    }

    @Test
    void onlyWithdrawnRequestsAreDiscardedForOthers() {
        server.accepts = false;
        ListenedService<Req> listening = server.listen(server.agent, CmHost.SERVICE, 2);
        deliver(client.address, request(1, 1).build());
        deliver(client.address, request(2, 2).build());
        deliver(client.address, Rej.timeout(2, Rej.MESSAGE_OTHER, 77));
        deliver(client.address, request(3, 3).build());
        deliver(client.address, request(4, 4).build());
        assertThat(server.requested).extracting(CmConnection::remoteId).containsExactly(1, 2, 3);
        assertThat(server.events).containsExactly("request", "request", "reject 4", "discarded", "request");
        assertThat(listening.waiting()).isEqualTo(2);
        assertThat(server.agent.counters().backlogDropped).isEqualTo(1);
    }

    @Test
    void aStaleRequestKeepsItsPlaceBeyondTheTimewait() {
        server.accepts = false;
        ListenedService<Req> listening = server.listen(server.agent, CmHost.SERVICE, 1);
        deliver(client.address, request(1, 1).build());
        int id = server.requested.getFirst().localId();
        deliver(client.address, Rej.of(1, id, Rej.MESSAGE_OTHER, RejectReason.STALE_CONNECTION, PrivateData.EMPTY));
        assertThat(server.requested.getFirst().state()).isEqualTo(CmState.TIMEWAIT);
        fabric.run(100 * SECOND);
        assertThat(server.requested.getFirst().state()).isEqualTo(CmState.IDLE);
        assertThat(listening.waiting()).isEqualTo(1);
        server.requested.getFirst().releaseBacklog();
        assertThat(listening.waiting()).isZero();
        server.assertNothingLeft();
    }

    @Test
    void halfOpenLimitAppliesAcrossListeners() {
        server.accepts = false;
        for (int i = 0; i < 8; i++) {
            server.listen(server.agent, i, 100);
        }
        for (int i = 0; i < 200; i++) {
            deliver(client.address, request(1 + i, 1 + i).serviceId(i % 8).build());
        }
        // The last two of 64 are reserved for other addresses.
        assertThat(server.agent.halfOpenCount()).isEqualTo(62);
        assertThat(server.agent.connectionCount()).isEqualTo(62);
        assertThat(server.agent.counters().backlogDropped).isEqualTo(200 - 62);
        for (int i = 0; i < 4; i++) {
            Gid other = new Gid(client.address.high(), client.address.low() + 100 + i);
            CmPath path = CmPath.roce(other, server.address, 0, 0, 64, 19);
            deliver(
                    other,
                    request(1000 + i, 1000 + i).serviceId(i).primaryPath(path).build());
        }
        assertThat(server.agent.halfOpenCount()).isEqualTo(64);
        assertThat(server.agent.counters().backlogDropped).isEqualTo(200 - 62 + 2);
    }

    @Test
    void listenerMayDropARequest() {
        server.listen();
        server.dropsRequests = true;
        client.connect(server);
        fabric.run(10 * MILLISECOND);
        assertNoState();
        server.dropsRequests = false;
        fabric.run(SECOND);
        assertThat(server.events).containsExactly("request", "ready");
    }

    @Test
    void responsesToAFloodOfRequestsAreBounded() {
        for (int i = 0; i < 5_000; i++) {
            deliver(client.address, request(1 + i, 1 + i).build());
        }
        int responses = 0;
        while (server.agent.pollTransmit() != null) {
            responses++;
        }
        assertThat(responses).isEqualTo(1024);
        assertThat(server.agent.counters().responsesDropped).isEqualTo(5_000 - 1024);
        assertNoState();
    }

    @Test
    void randomBytesAreCountedAndDropped() {
        server.listen();
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[CmMad.LENGTH];
            random.nextBytes(bytes);
            MemorySegment mad = MemorySegment.ofArray(bytes);
            if (i % 2 == 0) { // a valid header, so that random bodies are parsed too
                request(1, 1).build().emit(mad, 0, 1);
                bytes[17] = (byte) (0x10 + random.nextInt(12));
                for (int at = 24; at < CmMad.LENGTH; at++) {
                    bytes[at] = (byte) random.nextInt();
                }
            }
            MemorySegment cut = i % 5 == 0 ? resized(bytes, random.nextInt(400)) : mad;
            server.agent.onMad(fabric.now, CmFabric.received(client.address, server.address, cut));
            server.agent.pollTransmit();
        }
        CmCounters counters = server.agent.counters();
        assertThat(counters.madsReceived).isEqualTo(20_000);
        assertThat(counters.malformedDropped).isPositive();
        assertThat(counters.unsupportedDropped).isPositive();
        assertNoState();
    }

    private static MemorySegment resized(byte[] bytes, int length) {
        return MemorySegment.ofArray(Arrays.copyOf(bytes, length));
    }

    @Test
    void requestOfAStaleConnectionIsRejectedAndTheOldConnectionDisconnected() {
        server.listen();
        CmConnection first = client.connect(server, 0x321);
        fabric.run(10 * MILLISECOND);
        CmConnection old = server.requested.getFirst();
        // The client's host has lost the connection and reuses the queue pair.
        Req again = request(99, 0x321)
                .localCaGuid(client.agent.configuration().caGuid())
                .build();
        fabric.inject(client.address, server.address, again, 5);
        assertThat(fabric.log.subList(3, fabric.log.size())).containsExactly("REJ", "DREQ");
        assertThat(old.state()).isEqualTo(CmState.DREQ_SENT);
        fabric.run(10 * MILLISECOND);
        assertThat(first.state()).isEqualTo(CmState.TIMEWAIT);
        assertThat(server.events).containsExactly("request", "ready", "disconnected");

        fabric.inject(client.address, server.address, again, 5);
        assertThat(server.requested).as("the second attempt succeeds").hasSize(2);
        assertThat(server.agent.counters().staleConnections).isEqualTo(1);
    }

    @Test
    void sameQueuePairOfAnotherAdapterIsNotStale() {
        server.listen();
        deliver(client.address, request(1, 5).localCaGuid(1).build());
        deliver(client.address, request(1, 5).localCaGuid(2).build());
        assertThat(server.requested).hasSize(2);
    }

    @Test
    void extendedTargetsAreDistinguishedByTheQueuePairInTheirReplies() {
        client.extended = true;
        CmConnection one = client.connect(server);
        CmConnection two = client.connect(server);
        CmConnection again = client.connect(server);
        fabric.now += MILLISECOND;
        injectReply(one, 0x55);
        injectReply(two, 0x56);
        assertThat(one.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(two.state()).isEqualTo(CmState.ESTABLISHED);
        assertThat(two.remoteQueuePair()).isEqualTo(0x56);
        injectReply(again, 0x56);
        assertThat(two.state()).isEqualTo(CmState.DREQ_SENT);
        assertThat(again.state()).isEqualTo(CmState.REQ_SENT);
        assertThat(one.state()).isEqualTo(CmState.ESTABLISHED);
    }

    private void injectReply(CmConnection connection, int target) {
        long guid = server.agent.configuration().caGuid();
        Rep rep = Rep.builder()
                .communicationIds(connection.localId() + 1, connection.localId())
                .localQueuePair(target)
                .responderResources(1)
                .initiatorDepth(1)
                .targetAcknowledgeDelay(15)
                .localCaGuid(guid)
                .build();
        fabric.inject(server.address, client.address, rep.extended(), 1);
    }

    @Test
    void replyThatNamesAQueuePairInUseIsRejectedAsStale() {
        CmConnection one = client.connect(server);
        CmConnection two = client.connect(server);
        fabric.now += MILLISECOND;
        long guid = server.agent.configuration().caGuid();
        for (CmConnection connection : List.of(one, two)) {
            Rep rep = Rep.builder()
                    .communicationIds(connection.localId() + 1, connection.localId())
                    .localQueuePair(0x55)
                    .responderResources(1)
                    .initiatorDepth(1)
                    .targetAcknowledgeDelay(15)
                    .localCaGuid(guid)
                    .build();
            fabric.inject(server.address, client.address, rep, 1);
        }
        assertThat(one.state()).isEqualTo(CmState.DREQ_SENT);
        assertThat(two.state()).isEqualTo(CmState.REQ_SENT);
        assertThat(fabric.log).contains("REJ", "DREQ");
    }

    @Test
    void excessPrivateDataIsRefusedWithTheLimitInTheMessage() {
        server.accepts = false;
        server.listen();
        assertThatThrownBy(() ->
                        request(1, 1).privateData(PrivateData.of(new byte[93])).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("92");
        client.connect(server);
        fabric.run(10 * MILLISECOND);
        CmConnection passive = server.requested.getFirst();
        PrivateData tooMuch = PrivateData.of(new byte[149]);
        assertThatThrownBy(() -> passive.reject(0, RejectReason.CONSUMER_DEFINED, tooMuch))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("148");
        assertThat(passive.state()).as("unchanged").isEqualTo(CmState.MRA_REQ_SENT);
        passive.reject(fabric.now, RejectReason.CONSUMER_DEFINED, PrivateData.of(new byte[148]));
    }

    @Test
    void connectNeedsBothAddresses() {
        ReqBuilder noPath = Req.builder().serviceId(1);
        assertThatThrownBy(() -> client.agent.connect(0, noPath, 0, client))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("both addresses");
        client.assertNothingLeft();
    }

    @Test
    void exhaustedCommunicationIdsFailTheCall() {
        CmAgent exhausted = new CmAgent(CmConfiguration.of(1, () -> 7));
        ReqBuilder request = request(0, 1);
        exhausted.connect(0, request, 0, client);
        assertThatThrownBy(() -> exhausted.connect(0, request, 0, client))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("communication ID");
    }
}
