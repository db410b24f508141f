package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.completion;
import static io.rdma4j.conformance.cm.Session.queuePair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressInformation.Hints;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.XrcDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Identifiers of the port space IB, which may be of any queue pair type, especially extended connections. */
@Timeout(60)
class TypesOfIdTest {
    private static final InetAddress ADDRESS = TestDevices.address();
    private static final SharedReceiveQueueInitAttributes RECEIVES = SharedReceiveQueueInitAttributes.of(8, 1);
    private static final QueuePairInitAttributes ATTRIBUTES = QueuePairInitAttributes.of(SIZES);

    private final List<CmId> ids = new ArrayList<>();
    private final MemorySegment memory = Arena.ofAuto().allocate(64);

    @AfterEach
    void close() {
        ids.reversed().forEach(CmId::close);
    }

    private CmId track(CmId id) {
        ids.add(id);
        return id;
    }

    private static Errno refused(Runnable call) {
        return catchThrowableOfType(RdmaException.class, call::run).errno();
    }

    private static void require(QueuePairType type) {
        switch (type) {
            case RELIABLE_CONNECTION -> {}
            case UNRELIABLE_CONNECTION -> TestDevices.require(Capability.UNRELIABLE_CONNECTIONS);
            case UNRELIABLE_DATAGRAM -> TestDevices.require(Capability.DATAGRAMS);
            case XRC_SEND, XRC_RECEIVE -> TestDevices.require(Capability.EXTENDED_CONNECTIONS);
        }
    }

    private CmId listener(QueuePairType type) {
        CmId listener = bound(type);
        listener.listen(0);
        return listener;
    }

    private CmId bound(QueuePairType type) {
        require(type);
        Hints hints = Hints.of(PortSpace.IB, Flag.PASSIVE).withQueuePairType(type);
        return track(ConnectionManager.ofProcess()
                .createEndpoint(AddressInformation.lookUp(ADDRESS.getHostAddress(), "0", hints), ATTRIBUTES));
    }

    private CmId client(QueuePairType type, CmId listener) {
        require(type);
        Hints hints = Hints.of(PortSpace.IB).withQueuePairType(type);
        String port = String.valueOf(listener.sourcePort());
        return track(ConnectionManager.ofProcess()
                .createEndpoint(AddressInformation.lookUp(ADDRESS.getHostAddress(), port, hints), ATTRIBUTES));
    }

    /** An initiator with a target, whose application announces the number of the target's shared receive queue. */
    private final class Extended {
        final CmId initiator;
        final CmId target;
        final int queue;

        Extended() {
            CmId listener = listener(QueuePairType.XRC_RECEIVE);
            initiator = client(QueuePairType.XRC_SEND, listener);
            CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
                CmId request = listener.getRequest();
                int number = request.createSharedReceiveQueue(RECEIVES).number();
                request.accept(ConnectionParameters.defaults()
                        .withPrivateData(ByteBuffer.allocate(4).putInt(number).array()));
                return request;
            });
            initiator.connect();
            queue = ByteBuffer.wrap(Objects.requireNonNull(initiator.event())
                            .connection()
                            .privateData())
                    .getInt();
            target = track(accepted.join());
        }

        WorkCompletion send(String text, int to) {
            memory.setString(0, text);
            try (MemoryRegion region = initiator.protectionDomain().register(memory)) {
                queuePair(initiator)
                        .postSend(new SendWorkRequest()
                                .reset(1)
                                .from(region, 0, 32)
                                .toSharedReceiveQueue(to)
                                .signaled());
                return completion(initiator.sendCompletions());
            }
        }
    }

    private static SharedReceiveQueue sharedReceiveQueue(CmId id) {
        return Objects.requireNonNull(id.sharedReceiveQueue());
    }

    @Test
    void messageArrivesAtTheSharedReceiveQueueThatTheReplyNamed() {
        Extended connection = new Extended();
        CmId target = connection.target;
        MemorySegment arrived = Arena.ofAuto().allocate(32);
        try (MemoryRegion region = target.protectionDomain().register(arrived, AccessFlag.LOCAL_WRITE)) {
            sharedReceiveQueue(target)
                    .postReceive(new ReceiveWorkRequest().reset(7).into(region));
            assertThat(connection.send("extended", connection.queue).status()).isEqualTo(CompletionStatus.SUCCESS);
            WorkCompletion done = completion(target.receiveCompletions());
            assertThat(done.id()).isEqualTo(7);
            assertThat(done.queuePairNumber()).isEqualTo(queuePair(target).number());
            assertThat(arrived.getString(0)).isEqualTo("extended");
        }
        CompletableFuture<Void> parted = CompletableFuture.runAsync(connection.initiator::disconnect);
        target.disconnect();
        parted.join();
    }

    @Test
    void typeOfTheListenerIsThatOfItsRequestsAndOfTheirQueuePairs() {
        Extended connection = new Extended();
        assertThat(connection.initiator.queuePairType()).isEqualTo(QueuePairType.XRC_SEND);
        assertThat(queuePair(connection.initiator).type()).isEqualTo(QueuePairType.XRC_SEND);
        assertThat(connection.target.queuePairType()).isEqualTo(QueuePairType.XRC_RECEIVE);
        assertThat(queuePair(connection.target).type()).isEqualTo(QueuePairType.XRC_RECEIVE);
        assertThat(queuePair(connection.initiator).state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(queuePair(connection.target).state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void replyAnnouncesASharedReceiveQueueAndTheTargetsNumber() {
        Extended connection = new Extended();
        ConnectionParameters announced =
                Objects.requireNonNull(connection.initiator.event()).connection();
        assertThat(announced.sharedReceiveQueue()).isTrue();
        assertThat(announced.queuePairNumber())
                .isEqualTo(queuePair(connection.target).number());
        assertThat(announced.responderResources())
                .as("an initiator serves nothing")
                .isZero();
    }

    @Test
    void initiatorUsesTheApplicationsRetryCountAlthoughTheRequestDoesNotContainIt() {
        Extended connection = new Extended();
        QueuePairAttributes query = queuePair(connection.initiator).query();
        assertThat(query.retryCount()).isEqualTo(ConnectionParameters.defaults().retryCount());
        assertThat(query.rnrRetry()).isEqualTo(7);
    }

    @Test
    void memoryOfTheTargetIsAccessedByTheInitiatorOnly() {
        Extended connection = new Extended();
        MemorySegment far = Arena.ofAuto().allocate(64);
        try (MemoryRegion exposed = connection
                        .target
                        .protectionDomain()
                        .register(far, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
                MemoryRegion region = connection.initiator.protectionDomain().register(memory)) {
            memory.setString(0, "written");
            queuePair(connection.initiator)
                    .postSend(new SendWorkRequest()
                            .reset(1)
                            .from(region, 0, 32)
                            .write(exposed.address(), exposed.remoteKey())
                            .toSharedReceiveQueue(connection.queue)
                            .signaled());
            assertThat(completion(connection.initiator.sendCompletions()).status())
                    .isEqualTo(CompletionStatus.SUCCESS);
            assertThat(far.getString(0)).isEqualTo("written");
        }
        assertThat(refused(() -> queuePair(connection.target).postSend(new SendWorkRequest().reset(1))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void queueOfAnotherIdentifierOfTheDomainIsUsedOverTheSameConnection() {
        Extended connection = new Extended();
        CmId other = track(CmId.create(PortSpace.TCP));
        other.bindAddress(new InetSocketAddress(ADDRESS, 0));
        SharedReceiveQueue queue =
                other.createSharedReceiveQueue(RECEIVES.withXrcDomain(connection.target.xrcDomain()));
        CompletionQueue completions = Objects.requireNonNull(other.receiveCompletions());
        CompletionChannel channel = Objects.requireNonNull(other.receiveCompletionChannel());
        assertThat(completions.channel()).isSameAs(channel);
        MemorySegment arrived = Arena.ofAuto().allocate(32);
        try (MemoryRegion region = other.protectionDomain().register(arrived, AccessFlag.LOCAL_WRITE)) {
            queue.postReceive(new ReceiveWorkRequest().reset(9).into(region, 0, 32));
            assertThat(connection.send("another", queue.number()).status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(completion(completions).id()).isEqualTo(9);
            assertThat(arrived.getString(0)).isEqualTo("another");
        }
        other.destroySharedReceiveQueue();
        assertThat(other.receiveCompletions()).isNull();
    }

    @Test
    void queuePairHasTheTypeOfTheIdentifier() { // of one that does not listen: for a listener, Linux has no attributes
        CmId id = bound(QueuePairType.RELIABLE_CONNECTION);
        assertThat(refused(() -> id.createQueuePair(ATTRIBUTES.withType(QueuePairType.UNRELIABLE_DATAGRAM))))
                .isEqualTo(Errno.EINVAL);
        assertThat(id.createQueuePair(ATTRIBUTES.withType(QueuePairType.RELIABLE_CONNECTION))
                        .type())
                .isEqualTo(QueuePairType.RELIABLE_CONNECTION);
        id.destroyQueuePair();
        assertThat(id.createQueuePair(ATTRIBUTES).type()).isEqualTo(QueuePairType.RELIABLE_CONNECTION);
    }

    /** Only such a queue has completions of its own: no queue pair keeps it open, and with it its completion queue. */
    @Test
    void queuePairCannotTakeReceivesFromAnExtendedSharedReceiveQueue() {
        CmId id = listener(QueuePairType.XRC_RECEIVE);
        id.createSharedReceiveQueue(RECEIVES);
        CmId other = listener(QueuePairType.RELIABLE_CONNECTION);
        assertThat(refused(() -> other.createQueuePair(ATTRIBUTES.withSharedReceiveQueue(sharedReceiveQueue(id)))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void completionsThatAnotherSharedReceiveQueueReportsToAreClosedByTheNextClose() {
        CmId first = listener(QueuePairType.XRC_RECEIVE);
        first.createSharedReceiveQueue(RECEIVES);
        CompletionQueue completions = Objects.requireNonNull(first.receiveCompletions());
        CompletionChannel channel = Objects.requireNonNull(first.receiveCompletionChannel());
        CmId second = listener(QueuePairType.XRC_RECEIVE);
        second.createSharedReceiveQueue(RECEIVES.withCompletions(completions));
        assertThat(refused(first::close)).isEqualTo(Errno.EBUSY);
        second.close();
        CmId third = listener(QueuePairType.XRC_RECEIVE);
        third.verbs().createCompletionQueue(1, channel).close();
        first.close();
        assertThat(refused(() -> third.verbs().createCompletionQueue(1, channel)))
                .isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> third.createSharedReceiveQueue(RECEIVES.withCompletions(completions))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void sharedReceiveQueueReportsToTheApplicationsCompletionQueue() {
        CmId id = listener(QueuePairType.XRC_RECEIVE);
        CompletionQueue created = id.verbs().createCompletionQueue(4);
        id.createSharedReceiveQueue(RECEIVES.withCompletions(created));
        assertThat(id.receiveCompletions()).isSameAs(created);
        assertThat(id.receiveCompletionChannel()).isNull();
        assertThat(sharedReceiveQueue(id).number()).isPositive();
        id.destroySharedReceiveQueue();
        created.close();
    }

    @Test
    void unreliableConnectionIsSupported() {
        CmId listener = listener(QueuePairType.UNRELIABLE_CONNECTION);
        CmId client = client(QueuePairType.UNRELIABLE_CONNECTION, listener);
        CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
            CmId request = listener.getRequest();
            request.accept();
            return request;
        });
        client.connect();
        CmId server = track(accepted.join());
        assertThat(queuePair(server).type()).isEqualTo(QueuePairType.UNRELIABLE_CONNECTION);
        Session.transfer(client, server, "unreliable");
        Session.transfer(server, client, "both ways");
    }

    @Test
    void datagramServiceIsSupported() {
        CmId listener = listener(QueuePairType.UNRELIABLE_DATAGRAM);
        CmId client = client(QueuePairType.UNRELIABLE_DATAGRAM, listener);
        CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
            CmId request = listener.getRequest();
            request.accept();
            return request;
        });
        client.connect();
        CmId server = track(accepted.join());
        DatagramParameters announced = ((CmEvent.ServiceResolved) Objects.requireNonNull(client.event())).datagram();
        assertThat(announced.queuePairNumber()).isEqualTo(queuePair(server).number());
    }

    @ParameterizedTest
    @CsvSource({
        "RELIABLE_CONNECTION, XRC_RECEIVE",
        "UNRELIABLE_CONNECTION, RELIABLE_CONNECTION",
        "XRC_SEND, RELIABLE_CONNECTION",
        "XRC_SEND, XRC_SEND",
        "XRC_RECEIVE, XRC_RECEIVE"
    })
    void requestOfAnotherTypeThanTheListenersIsRejected(QueuePairType requested, QueuePairType offered) {
        CmId listener = listener(offered);
        CmId client = client(requested, listener);
        assertThat(refused(() -> client.connect())).isEqualTo(Errno.ECONNREFUSED);
        assertThat(Objects.requireNonNull(client.event()).status()).isEqualTo(RejectReason.CONSUMER_DEFINED.code());
    }

    @ParameterizedTest
    @EnumSource(
            value = PortSpace.class,
            names = {"TCP", "UDP", "IPOIB"})
    void otherPortSpacesHaveTheirOwnTypeOnly(PortSpace space) {
        for (QueuePairType type : QueuePairType.values()) {
            try (EventChannel channel = EventChannel.open()) {
                if (type == space.queuePairType()) {
                    channel.createId(space, type, null).close();
                    CmId.create(space, type, null).close();
                } else {
                    assertThat(refused(() -> channel.createId(space, type, null)))
                            .isEqualTo(Errno.EINVAL);
                    assertThat(refused(() -> CmId.create(space, type, null))).isEqualTo(Errno.EINVAL);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(QueuePairType.class)
    void lookUpOfATypeFindsAPortSpaceThatSupportsIt(QueuePairType type) {
        Hints hints = new Hints(Set.of(), null, type, null, null, null);
        AddressInformation found = AddressInformation.lookUp(ADDRESS.getHostAddress(), "7471", hints);
        assertThat(found.queuePairType()).isEqualTo(type);
        assertThat(track(ConnectionManager.ofProcess().createEndpoint(found)).queuePairType())
                .isEqualTo(type);
    }

    @Test
    void targetIsInTheApplicationsDomain() {
        CmId id = listener(QueuePairType.XRC_RECEIVE);
        try (XrcDomain created = id.verbs().openXrcDomain()) {
            id.createQueuePair(ATTRIBUTES.withXrcDomain(created));
            assertThat(refused(created::close)).isEqualTo(Errno.EBUSY);
            id.destroyQueuePair();
        }
    }

    @Test
    void domainBelongsToTheDeviceAndExistsWhileAnyIdentifierUsesIt() {
        CmId first = listener(QueuePairType.XRC_RECEIVE);
        CmId second = listener(QueuePairType.RELIABLE_CONNECTION);
        XrcDomain domain = first.xrcDomain();
        assertThat(second.xrcDomain()).isSameAs(domain);
        first.close();
        assertThat(second.xrcDomain()).isSameAs(domain);
        second.close();
        assertThat(listener(QueuePairType.XRC_RECEIVE).xrcDomain()).isNotSameAs(domain);
        try (CmId idle = CmId.create(PortSpace.IB, QueuePairType.XRC_SEND, null)) {
            assertThat(refused(idle::xrcDomain)).isEqualTo(Errno.EINVAL);
        }
    }

    @Test
    void asynchronousIdentifiersConnectToo() {
        try (EventChannel clients = EventChannel.open();
                EventChannel servers = EventChannel.open()) {
            TestDevices.require(Capability.EXTENDED_CONNECTIONS);
            CmId listener = track(servers.createId(PortSpace.IB, QueuePairType.XRC_RECEIVE, null));
            listener.bindAddress(new InetSocketAddress(ADDRESS, 0));
            listener.listen(0);
            CmId client = track(clients.createId(PortSpace.IB, QueuePairType.XRC_SEND, null));
            client.resolveAddress(new InetSocketAddress(ADDRESS, listener.sourcePort()), PATIENCE);
            Session.expect(clients, CmEvent.Type.ADDRESS_RESOLVED);
            client.resolveRoute(PATIENCE);
            Session.expect(clients, CmEvent.Type.ROUTE_RESOLVED);
            client.createQueuePair(ATTRIBUTES);
            client.connect(ConnectionParameters.defaults());
            CmEvent request = Session.expect(servers, CmEvent.Type.CONNECT_REQUEST);
            assertThat(request.connection().queuePairNumber())
                    .isEqualTo(queuePair(client).number());
            CmId server = track(request.id());
            server.createQueuePair(ATTRIBUTES);
            server.accept();
            Session.expect(clients, CmEvent.Type.ESTABLISHED);
            Session.expect(servers, CmEvent.Type.ESTABLISHED);
            assertThat(queuePair(client).state()).isEqualTo(QueuePairState.READY_TO_SEND);
            Session.disconnect(clients, client, servers, server);
            close();
            ids.clear();
        }
    }

    @Test
    void applicationsOwnQueuePairGetsTheAttributesOfItsType() {
        Extended connection = new Extended();
        assertThat(present(connection.initiator, QueuePairState.READY_TO_RECEIVE))
                .doesNotContain(QueuePairAttribute.MIN_RNR_TIMER, QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        assertThat(present(connection.initiator, QueuePairState.READY_TO_SEND))
                .contains(QueuePairAttribute.MAX_READ_ATOMIC, QueuePairAttribute.RETRY_COUNT);
        assertThat(present(connection.target, QueuePairState.READY_TO_RECEIVE))
                .contains(QueuePairAttribute.MIN_RNR_TIMER, QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        assertThat(present(connection.target, QueuePairState.READY_TO_SEND))
                .containsExactlyInAnyOrder(
                        QueuePairAttribute.STATE, QueuePairAttribute.SEND_PSN, QueuePairAttribute.TIMEOUT);
    }

    private static Set<QueuePairAttribute> present(CmId id, QueuePairState state) {
        return id.initQueuePairAttributes(state).present();
    }
}
