package io.rdma4j.hardware.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.cm.abi.PathRecord;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests identifiers over a kernel with the responses that a test sets. */
class KernelCmIdTest {
    private static final int ID = 77;
    private static final int CHILD = 78;
    private static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 7174);
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.9"), 40000);
    private static final RoutePath CHOSEN = new RoutePath(PathMtu.MTU_1024, 0x60, 0x12345, 7, 15);
    private static final long GUID = 0x0211223344556677L;

    /** Collects the events of an identifier, and of the identifiers that its requests have created. */
    private static final class Events implements CmEventSink {
        private final List<CmEvent> all = new ArrayList<>();
        private final List<ProviderCmId> children = new ArrayList<>();
        private final List<Events> ofChildren = new ArrayList<>();

        @Override
        public void onEvent(CmEvent event) {
            all.add(event);
        }

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event) {
            all.add(event);
            children.add(child);
            ofChildren.add(new Events());
            return ofChildren.getLast();
        }
    }

    private final FakeKernel fake = new FakeKernel();
    private final KernelCm kernel = new KernelCm(fake);
    private final Events events = new Events();
    private TransportType transport = TransportType.INFINIBAND;

    private KernelCmId create(PortSpace portSpace) {
        fake.answer(CmNumbers.CREATE_ID, new byte[] {ID, 0, 0, 0});
        fake.answer(CmNumbers.QUERY, addresses(LOCAL, PEER));
        return KernelCmId.create(
                kernel,
                (index, guid) -> index == 4 && guid == GUID
                        ? Optional.of(new NamedDevice("rxe0", guid, transport))
                        : Optional.empty(),
                portSpace,
                portSpace.queuePairType(),
                events);
    }

    private KernelCmId tcp() {
        return create(PortSpace.TCP);
    }

    private static byte[] addresses(InetSocketAddress local, InetSocketAddress peer) {
        byte[] bytes = new byte[CmStructures.QueriedAddresses.BYTES];
        MemorySegment answer = MemorySegment.ofArray(bytes);
        Fields.putLong(answer, CmStructures.QueriedAddresses.NODE_GUID, Long.reverseBytes(GUID));
        Fields.putInt(answer, CmStructures.QueriedAddresses.DEVICE_INDEX, 4);
        Fields.putByte(answer, CmStructures.QueriedAddresses.PORT, 1);
        SocketAddresses.write(answer, CmStructures.QueriedAddresses.LOCAL, local);
        SocketAddresses.write(answer, CmStructures.QueriedAddresses.PEER, peer);
        return bytes;
    }

    /** Adds an event. The events of a test's first identifier have the number 1. */
    private void event(long uid, int id, CmEvent.Type type, int status) {
        byte[] bytes = new byte[CmStructures.Event.BYTES];
        MemorySegment event = MemorySegment.ofArray(bytes);
        Fields.putLong(event, CmStructures.Event.UID, uid);
        Fields.putInt(event, CmStructures.Event.ID, id);
        Fields.putInt(event, CmStructures.Event.TYPE, type.code());
        Fields.putInt(event, CmStructures.Event.STATUS, status);
        Fields.putInt(event, CmStructures.Event.ENHANCEMENT + CmStructures.Enhancement.VENDOR, 0xabcdef);
        fake.add(bytes);
    }

    private CmEvent read(CmEvent.Type type, int status) {
        event(1, ID, type, status);
        kernel.onReadable();
        return events.all.getLast();
    }

    private List<Integer> destroyed() {
        return fake.sent(CmNumbers.DESTROY_ID).stream()
                .map(each -> Fields.intAt(MemorySegment.ofArray(each.structure()), CmStructures.DestroyId.ID))
                .toList();
    }

    @Test
    void idleIdHasNoAddressAndNoDevice() {
        KernelCmId id = tcp();
        assertThat(id.localAddress()).isNull();
        assertThat(id.peerAddress()).isNull();
        assertThat(id.device()).isNull();
        assertThat(id.portNumber()).isZero();
        assertThat(id.isConnected()).isFalse();
        assertThat(id.describe()).isEqualTo("no address");
    }

    @Test
    void boundIdHasAddressAndDevice() {
        KernelCmId id = tcp();
        fake.answer(CmNumbers.QUERY, addresses(LOCAL, new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0)));
        id.bind(LOCAL);
        assertThat(id.localAddress()).isEqualTo(LOCAL);
        assertThat(id.peerAddress()).isNull();
        assertThat(id.device()).hasToString("rxe0");
        assertThat(id.portNumber()).isEqualTo(1);
        assertThat(id.describe()).startsWith("192.0.2.1:7174 (device rxe0 port 1, GID ");
    }

    @Test
    void deviceIsKnownWhenTheAddressIsResolved() {
        KernelCmId id = tcp();
        fake.answer(CmNumbers.QUERY, new byte[CmStructures.QueriedAddresses.BYTES]);
        id.resolveAddress(null, PEER, null, Duration.ofSeconds(2));
        assertThat(id.device()).isNull();
        fake.answer(CmNumbers.QUERY, addresses(LOCAL, PEER));
        assertThat(read(CmEvent.Type.ADDRESS_RESOLVED, 0)).isInstanceOf(CmEvent.Notice.class);
        assertThat(id.device()).hasToString("rxe0");
        assertThat(id.peerAddress()).isEqualTo(PEER);
    }

    @Test
    void pathIsTheKernelsOnceTheIdHasADevice() {
        KernelCmId id = tcp();
        fake.answer(CmNumbers.QUERY, paths(CHOSEN));
        assertThat(id.path()).as("without a device").isNull();
        fake.answer(CmNumbers.QUERY, addresses(LOCAL, PEER));
        id.resolveAddress(null, PEER, null, Duration.ofSeconds(2));
        read(CmEvent.Type.ADDRESS_RESOLVED, 0);
        fake.answer(CmNumbers.QUERY, new byte[CmStructures.QueriedPaths.BYTES + CmStructures.PathData.BYTES]);
        assertThat(id.path()).as("before the route is resolved").isNull();
        fake.answer(CmNumbers.QUERY, paths(CHOSEN));
        assertThat(id.path()).isEqualTo(CHOSEN);
        assertThat(Fields.intAt(MemorySegment.ofArray(fake.last().structure()), CmStructures.Query.OPTION))
                .isEqualTo(CmNumbers.QUERY_PATHS);
    }

    private static byte[] paths(RoutePath path) {
        byte[] bytes = new byte[CmStructures.QueriedPaths.BYTES + CmStructures.PathData.BYTES];
        MemorySegment answer = MemorySegment.ofArray(bytes);
        Fields.putInt(answer, CmStructures.QueriedPaths.PATH_COUNT, 1);
        PathRecord.write(
                answer.asSlice(CmStructures.QueriedPaths.PATHS),
                path,
                Gid.of(LOCAL.getAddress()),
                Gid.of(PEER.getAddress()));
        return bytes;
    }

    @Test
    void unresolvedAddressIsExplained() {
        tcp().resolveAddress(null, PEER, null, Duration.ofSeconds(2));
        CmEvent event = read(CmEvent.Type.ADDRESS_ERROR, -Errno.ETIMEDOUT.number());
        assertThat(event.status()).isEqualTo(-Errno.ETIMEDOUT.number());
        assertThat(event.explanation()).contains("192.0.2.9", "ETIMEDOUT");
    }

    @Test
    void errorHasTheStateOfTheId() {
        KernelCmId id = tcp();
        fake.refuse(CmNumbers.CONNECT, Errno.EINVAL);
        assertThatThrownBy(() -> id.connect(ConnectionParameters.NONE))
                .isInstanceOfSatisfying(
                        RdmaException.class,
                        refused -> assertThat(refused.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("no address, state IDLE");
    }

    @Test
    void connectionIsConnectedFromItsConfirmationToTheEndOfTheTimeWait() {
        KernelCmId id = tcp();
        id.connect(ConnectionParameters.NONE);
        assertThat(((CmEvent.ConnectResponse) read(CmEvent.Type.CONNECT_RESPONSE, 0)).enhancement())
                .isEqualTo(new ConnectionEnhancement(0xabcdef, 0));
        assertThat(id.isConnected()).isFalse();
        id.establish();
        assertThat(id.isConnected()).isTrue();
        CmEvent _ = read(CmEvent.Type.DISCONNECTED, 0);
        assertThat(id.isConnected()).isTrue();
        CmEvent _ = read(CmEvent.Type.TIMEWAIT_EXIT, 0);
        assertThat(id.isConnected()).isFalse();
    }

    @Test
    void unreadEventChangesTheState() {
        KernelCmId id = tcp();
        event(1, ID, CmEvent.Type.ESTABLISHED, 0);
        assertThat(id.isConnected()).isTrue();
    }

    @Test
    void connectionOfIwarpHasNoTimeWait() {
        transport = TransportType.IWARP;
        KernelCmId id = tcp();
        id.bind(LOCAL);
        CmEvent _ = read(CmEvent.Type.ESTABLISHED, 0);
        assertThat(id.isConnected()).isTrue();
        CmEvent _ = read(CmEvent.Type.DISCONNECTED, 0);
        assertThat(id.isConnected()).isFalse();
    }

    @Test
    void failuresAreExplained() {
        KernelCmId id = tcp();
        id.bind(LOCAL);
        id.connect(ConnectionParameters.NONE);
        assertThat(read(CmEvent.Type.REJECTED, 8).explanation())
                .contains("invalid service ID (8)", "nobody listens on port 40000 of 192.0.2.9");
        assertThat(read(CmEvent.Type.REJECTED, -Errno.ECONNREFUSED.number()).explanation())
                .contains("ECONNREFUSED", "port 40000 of 192.0.2.9");
        assertThat(read(CmEvent.Type.UNREACHABLE, -Errno.ETIMEDOUT.number()).explanation())
                .contains("did not", "UDP port 4791");
        assertThat(read(CmEvent.Type.DISCONNECTED, -Errno.ETIMEDOUT.number()).explanation())
                .contains("did not confirm the disconnect");
        assertThat(read(CmEvent.Type.DEVICE_REMOVAL, 0).explanation()).contains("rxe0");
    }

    @Test
    void requestIsAcceptedByItsNumberAndTheVendorOfItsOptions() {
        KernelCmId listener = tcp();
        listener.bind(LOCAL);
        listener.listen(8);
        event(1, CHILD, CmEvent.Type.CONNECT_REQUEST, 0);
        kernel.onReadable();
        ProviderCmId child = events.children.getFirst();
        assertThat(child.peerAddress()).isEqualTo(PEER);
        child.setLocalEnhancement(new ConnectionEnhancement(1, 5));
        child.accept(ConnectionParameters.NONE);
        MemorySegment accept = MemorySegment.ofArray(fake.last().structure());
        assertThat(Fields.intAt(accept, CmStructures.Accept.ID)).isEqualTo(CHILD);
        assertThat(Fields.intAt(accept, CmStructures.Accept.ENHANCEMENT)).isEqualTo(0xabcdef);
        assertThat(Fields.intAt(accept, CmStructures.Accept.ENHANCEMENT + 4)).isEqualTo(5);
        event(Fields.longAt(accept, CmStructures.Accept.UID), CHILD, CmEvent.Type.ESTABLISHED, 0);
        kernel.onReadable();
        assertThat(events.ofChildren.getFirst().all)
                .hasOnlyElementsOfType(CmEvent.Established.class)
                .hasSize(1);
        assertThat(child.isConnected()).isTrue();
    }

    @Test
    void requestThatTheFilterRefusesIsDestroyed() {
        KernelCmId listener = tcp();
        listener.setAccessFilter(attempt -> !attempt.source().equals(PEER));
        listener.listen(8);
        event(1, CHILD, CmEvent.Type.CONNECT_REQUEST, 0);
        kernel.onReadable();
        assertThat(events.all).isEmpty();
        assertThat(destroyed()).containsExactly(CHILD);
    }

    @Test
    void requestWhoseFilterFailsIsDestroyed() {
        KernelCmId listener = tcp();
        listener.setAccessFilter(attempt -> {
            throw new IllegalStateException("a filter that fails");
        });
        listener.listen(8);
        event(1, CHILD, CmEvent.Type.CONNECT_REQUEST, 0);
        kernel.onReadable();
        assertThat(events.all).isEmpty();
        assertThat(destroyed()).containsExactly(CHILD);
    }

    @Test
    void requestsBeyondTheLimitAreDestroyedUntilTheApplicationTakesOne() {
        KernelCmId listener = tcp();
        listener.listen(1);
        for (int i = 0; i < 1025; i++) {
            event(1, 1000 + i, CmEvent.Type.CONNECT_REQUEST, 0);
        }
        kernel.onReadable();
        assertThat(events.children).hasSize(1024);
        assertThat(destroyed()).containsExactly(1000 + 1024);
        events.children.getFirst().onRequestTaken();
        event(1, 3000, CmEvent.Type.CONNECT_REQUEST, 0);
        kernel.onReadable();
        assertThat(events.children).hasSize(1025);
    }

    @Test
    void closedIdReportsNothing() {
        KernelCmId id = tcp();
        event(1, ID, CmEvent.Type.ADDRESS_RESOLVED, 0);
        event(1, CHILD, CmEvent.Type.CONNECT_REQUEST, 0);
        id.close();
        id.close();
        kernel.onReadable();
        assertThat(events.all).isEmpty();
        assertThat(destroyed()).containsExactly(ID, CHILD);
    }

    @Test
    void groupIsJoinedIfItsEventComesFirst() {
        KernelCmId id = create(PortSpace.UDP);
        id.bind(LOCAL);
        fake.answer(CmNumbers.JOIN_GROUP, new byte[] {5, 0, 0, 0});
        fake.onCommand(command -> {
            if (command.number() == CmNumbers.JOIN_GROUP) {
                event(2, 5, CmEvent.Type.MULTICAST_JOIN, 0);
                kernel.onReadable();
            }
        });
        Object membership = new Object();
        id.joinMulticast(MulticastJoinAttributes.of(InetAddress.ofLiteral("239.1.2.3")), membership);
        assertThat(events.all.getFirst().type()).isEqualTo(CmEvent.Type.MULTICAST_JOIN);
        assertThat(((CmEvent.MulticastJoin) events.all.getFirst()).context()).isSameAs(membership);
        id.leaveMulticast(membership);
        assertThat(Fields.intAt(MemorySegment.ofArray(fake.last().structure()), CmStructures.DestroyId.ID))
                .isEqualTo(5);
        event(2, 5, CmEvent.Type.MULTICAST_ERROR, -Errno.ENODEV.number());
        kernel.onReadable();
        assertThat(events.all).hasSize(1);
    }

    @Test
    void tooLongPrivateDataIsRefused() {
        KernelCmId id = tcp();
        assertThatThrownBy(() -> id.connect(ConnectionParameters.NONE.withPrivateData(new byte[57])))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("57 bytes is more than the 56");
        assertThat(fake.sent(CmNumbers.CONNECT)).isEmpty();
    }

    @Test
    void datagramsNeedFewAttributesAfterTheFirstState() {
        KernelCmId id = create(PortSpace.UDP);
        fake.answer(CmNumbers.INITIALIZE_ATTRIBUTES, CBytes.of("answer.init"));
        assertThat(id.initQueuePairAttributes(QueuePairState.INIT).present()).contains(QueuePairAttribute.QUEUE_KEY);
        assertThat(id.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE).present())
                .containsExactly(QueuePairAttribute.STATE);
        assertThat(id.initQueuePairAttributes(QueuePairState.READY_TO_SEND).present())
                .containsExactlyInAnyOrder(QueuePairAttribute.STATE, QueuePairAttribute.SEND_PSN);
    }

    @Test
    void callerChoosesTheTypeOfTheQueuePair() {
        KernelCmId _ = KernelCmId.create(
                kernel, (index, guid) -> Optional.empty(), PortSpace.IB, QueuePairType.UNRELIABLE_CONNECTION, events);
        MemorySegment created = MemorySegment.ofArray(fake.last().structure());
        assertThat(Fields.shortAt(created, CmStructures.CreateId.PORT_SPACE)).isEqualTo(0x013f);
        assertThat(Fields.byteAt(created, CmStructures.CreateId.QUEUE_PAIR_TYPE))
                .isEqualTo(3);
    }
}
