package io.rdma4j.exec.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.exec.bridge.Operation;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.QueuePairMask;
import io.rdma4j.verbs.abi.VerbsStructures.AddressHandleFields;
import io.rdma4j.verbs.abi.VerbsStructures.AddressVectorFields;
import io.rdma4j.verbs.abi.VerbsStructures.Capabilities;
import io.rdma4j.verbs.abi.VerbsStructures.Completion;
import io.rdma4j.verbs.abi.VerbsStructures.DeviceLimits;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedDeviceLimits;
import io.rdma4j.verbs.abi.VerbsStructures.PortFields;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;
import io.rdma4j.verbs.abi.VerbsStructures.RegionFields;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import io.rdma4j.verbs.abi.VerbsStructures.WindowFields;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the control operations with structures in native memory. */
class ControlCallsTest {
    private static final int SUCCESS = CompletionStatus.SUCCESS.code();

    private final TestNetwork network = new TestNetwork();
    private CEnd client;
    private CEnd server;

    @BeforeEach
    void open() {
        client = new CEnd(network.addHost("10.0.0.1"));
        server = new CEnd(network.addHost("10.0.0.2"));
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        network.close();
    }

    private DeviceContext context() {
        return Handles.of(client.device, OpenDevice.class).context();
    }

    @Test
    void deviceAttributesAreWritten() {
        MemorySegment target = client.arena.allocate(ExtendedDeviceLimits.BYTES, 8);
        assertThat(client.call(Operation.QUERY_DEVICE, client.device, target.address(), ExtendedDeviceLimits.BYTES))
                .isZero();
        DeviceAttributes attributes = context().attributes();
        assertThat(target.getString(0)).isEqualTo(attributes.firmwareVersion());
        assertThat(target.get(JAVA_LONG, DeviceLimits.NODE_GUID)).isEqualTo(Long.reverseBytes(attributes.nodeGuid()));
        assertThat(target.get(JAVA_INT, DeviceLimits.MAX_QUEUE_PAIRS)).isEqualTo(attributes.maxQueuePairs());
        assertThat(target.get(JAVA_BYTE, DeviceLimits.PORTS)).isEqualTo((byte) 1);
        assertThat(target.get(JAVA_LONG, ExtendedDeviceLimits.CAPABILITIES)).isEqualTo(attributes.capabilityBits());
        assertThat(target.get(JAVA_INT, ExtendedDeviceLimits.PORTS)).isEqualTo(1);
    }

    @Test
    void anOldProgramGetsOnlyTheFieldsThatItKnows() {
        MemorySegment target = client.arena.allocate(ExtendedDeviceLimits.BYTES, 8);
        target.asSlice(DeviceLimits.BYTES).fill((byte) 0x5a);
        client.call(Operation.QUERY_DEVICE, client.device, target.address(), DeviceLimits.BYTES);
        assertThat(target.asSlice(DeviceLimits.BYTES).toArray(JAVA_BYTE)).containsOnly(0x5a);
    }

    @Test
    void thePortIsActive() {
        MemorySegment target = client.arena.allocate(PortFields.MAX_BYTES, 8);
        assertThat(client.call(Operation.QUERY_PORT, client.device, 1, target.address()))
                .isZero();
        assertThat(target.get(JAVA_INT, PortFields.STATE)).isEqualTo(4);
        assertThat(target.get(JAVA_BYTE, PortFields.LINK_LAYER)).isEqualTo((byte) Flags.LINK_LAYER_ETHERNET);
        assertThat(client.call(Operation.QUERY_PORT, client.device, 2, target.address()))
                .isEqualTo(Errno.EINVAL.number());
    }

    @Test
    void anEmptyGidEntryHasNoData() {
        MemorySegment gid = client.arena.allocate(16, 8);
        assertThat(client.call(Operation.QUERY_GID, client.device, 1, CEnd.IPV4_GID_INDEX, gid.address()))
                .isZero();
        assertThat(gid.getAtIndex(JAVA_LONG, 1)).isNotZero();
        assertThat(client.result(5)).isEqualTo(2);
        int last = context().port(1).gidTableLength() - 1;
        assertThat(client.call(Operation.QUERY_GID, client.device, 1, last, gid.address()))
                .isEqualTo(Errno.ENODATA.number());
        assertThat(client.call(Operation.QUERY_GID, client.device, 1, last + 1, gid.address()))
                .isEqualTo(Errno.EINVAL.number());
        assertThat(client.call(Operation.QUERY_PKEY, client.device, 1, 0)).isZero();
        assertThat(client.result(0)).isEqualTo(0xffff);
    }

    @Test
    void aQueuePairIsCreatedChangedAndQueried() {
        int queuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        int peer = server.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        client.connect(queuePair, server, peer);
        MemorySegment attributes = client.arena.allocate(QueuePairAttributeFields.BYTES, 8);
        assertThat(client.call(Operation.QUERY_QP, queuePair, attributes.address()))
                .isZero();
        assertThat(client.result(2)).isEqualTo(QueuePairState.READY_TO_SEND.code());
        assertThat(attributes.get(JAVA_INT, QueuePairAttributeFields.STATE))
                .isEqualTo(QueuePairState.READY_TO_SEND.code());
        assertThat(attributes.get(JAVA_INT, QueuePairAttributeFields.DESTINATION_QUEUE_PAIR))
                .isEqualTo(server.number(peer));
        assertThat(attributes.get(JAVA_BYTE, QueuePairAttributeFields.TIMEOUT)).isEqualTo((byte) 14);
        assertThat(attributes.get(JAVA_BYTE, QueuePairAttributeFields.ADDRESS_VECTOR + AddressVectorFields.HOP_LIMIT))
                .isEqualTo((byte) 64);
        assertThat(attributes.get(JAVA_INT, QueuePairAttributeFields.CAPABILITIES + Capabilities.SEND_WORK_REQUESTS))
                .isEqualTo(32);
    }

    @Test
    void unsupportedFeaturesAreRefused() {
        int queuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        MemorySegment attributes = client.arena.allocate(QueuePairAttributeFields.BYTES, 8);
        int alternatePath = 1 << 14;
        assertThat(client.call(
                        Operation.MODIFY_QP, queuePair, attributes.address(), QueuePairMask.STATE | alternatePath))
                .isEqualTo(Errno.EOPNOTSUPP.number());
        MemorySegment sizes = client.arena.allocate(Capabilities.BYTES, 8);
        int rawPacket = 8;
        assertThat(client.call(
                        Operation.CREATE_QP, client.domain, rawPacket, client.queue, client.queue, 0, sizes.address()))
                .isEqualTo(Errno.EOPNOTSUPP.number());
        assertThat(client.call(9999)).isEqualTo(Errno.EINVAL.number());
        assertThat(client.call(Operation.QUERY_QP, 0, attributes.address())).isEqualTo(Errno.EINVAL.number());
    }

    // ---- memory

    @Test
    void aRegionIsInUseUntilItsWindowIsUnbound() {
        int queuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        int peer = server.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        client.connect(queuePair, server, peer);
        server.connect(peer, client, queuePair);
        int window = client.create(Operation.ALLOCATE_WINDOW, client.domain, 2);
        int key = (int) client.result(1) + 1;
        assertThat(client.postSend(queuePair, binding(window, key))).isZero();
        client.expect(1, SUCCESS);
        server.fill(0, "through the window");
        MemorySegment write = server.send(2, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, server.own(0, 19));
        write.set(JAVA_LONG, SendRequest.RDMA_ADDRESS, client.memory.address() + 4096);
        write.set(JAVA_INT, SendRequest.RDMA_KEY, key);
        assertThat(server.postSend(peer, write)).isZero();
        server.expect(2, SUCCESS);
        assertThat(client.text(4096)).isEqualTo("through the window");
        assertThat(client.call(Operation.CLOSE, client.region)).isEqualTo(Errno.EBUSY.number());
        MemorySegment invalidate =
                client.send(3, SendOpcode.LOCAL_INVALIDATE, Flags.SEND_SIGNALED, client.arena.allocate(0));
        invalidate.set(JAVA_INT, SendRequest.INVALIDATE_KEY, key);
        assertThat(client.postSend(queuePair, invalidate)).isZero();
        client.expect(3, SUCCESS);
        assertThat(client.call(Operation.CLOSE, client.region)).isZero();
        assertThat(client.call(Operation.CLOSE, window)).isZero();
    }

    private MemorySegment binding(int window, int key) {
        MemorySegment windowOfC = client.arena.allocate(32, 8);
        windowOfC.set(JAVA_INT, WindowFields.HANDLE, window);
        MemorySegment regionOfC = client.arena.allocate(48, 8);
        regionOfC.set(JAVA_INT, RegionFields.HANDLE, client.region);
        MemorySegment request =
                client.send(1, SendOpcode.BIND_MEMORY_WINDOW, Flags.SEND_SIGNALED, client.arena.allocate(0));
        request.set(JAVA_LONG, SendRequest.BIND_WINDOW, windowOfC.address());
        request.set(JAVA_INT, SendRequest.BIND_KEY, key);
        request.set(JAVA_LONG, SendRequest.BIND_REGION, regionOfC.address());
        request.set(JAVA_LONG, SendRequest.BIND_ADDRESS, client.memory.address() + 4096);
        request.set(JAVA_LONG, SendRequest.BIND_LENGTH, 4096);
        request.set(JAVA_INT, SendRequest.BIND_ACCESS, 1 | 2 | 4);
        return request;
    }

    @Test
    void reregistrationReplacesTheMemoryOfARegion() {
        int queuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        int peer = server.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        client.connect(queuePair, server, peer);
        server.connect(peer, client, queuePair);
        MemorySegment other = client.arena.allocateFrom("other memory");
        assertThat(client.call(Operation.REREGISTER, client.region, Flags.CHANGE_MEMORY, 0, other.address(), 13, 0))
                .isZero();
        int key = (int) client.result(1);
        LocalKeys keys = Handles.of(client.domain, Domain.class).keys();
        assertThat(keys.find(key)).isNotNull();
        assertThat(keys.find(client.localKey)).isNull();
        MemorySegment write =
                client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.element(other.address(), 13, key));
        write.set(JAVA_LONG, SendRequest.RDMA_ADDRESS, server.memory.address());
        write.set(JAVA_INT, SendRequest.RDMA_KEY, server.remoteKey);
        assertThat(client.postSend(queuePair, write)).isZero();
        client.expect(1, SUCCESS);
        assertThat(server.text(0)).isEqualTo("other memory");
    }

    @Test
    void aDomainInUseIsBusy() {
        assertThat(client.call(Operation.CLOSE, client.domain)).isEqualTo(Errno.EBUSY.number());
        assertThat(client.call(Operation.CLOSE, client.region)).isZero();
        assertThat(client.call(Operation.CLOSE, client.region)).isEqualTo(Errno.EINVAL.number());
        assertThat(client.call(Operation.CLOSE, client.domain)).isZero();
    }

    @Test
    void wrongRightsAreRefused() {
        long address = client.memory.address();
        assertThat(client.call(Operation.REGISTER, client.domain, address, 64, address, 2))
                .isEqualTo(Errno.EINVAL.number());
        assertThat(client.call(Operation.REGISTER, client.domain, address, 64, address, 1 << 30))
                .isEqualTo(Errno.EOPNOTSUPP.number());
        assertThat(client.call(Operation.REGISTER, client.domain, address, -1, address, 1))
                .isEqualTo(Errno.EINVAL.number());
    }

    // ---- datagrams, shared receive queues

    @Test
    void aDatagramIsReceivedByASharedReceiveQueue() {
        int shared = server.create(Operation.CREATE_SRQ, server.domain, 16, 2, 0, 0x55);
        assertThat(server.result(2)).isEqualTo(16);
        MemorySegment sizes = server.arena.allocate(Capabilities.BYTES, 8);
        sizes.set(JAVA_INT, Capabilities.SEND_WORK_REQUESTS, 4);
        int type = QueuePairType.UNRELIABLE_DATAGRAM.code();
        int receiver = server.create(
                Operation.CREATE_QP, server.domain, type, server.queue, server.queue, shared, sizes.address());
        int sender = client.createQueuePair(QueuePairType.UNRELIABLE_DATAGRAM);
        ready(server, receiver);
        ready(client, sender);
        MemorySegment receive = server.receive(20, server.own(0, 100));
        assertThat(DataPath.postSharedReceive(shared, receive.address(), server.bad.address()))
                .isZero();
        MemorySegment path = client.arena.allocate(AddressVectorFields.BYTES, 8);
        server.writeOwnPath(path);
        MemorySegment destination = client.arena.allocate(24, 8);
        destination.set(
                JAVA_INT,
                AddressHandleFields.HANDLE,
                client.create(Operation.CREATE_ADDRESS_HANDLE, client.domain, path.address()));
        client.fill(0, "datagram");
        MemorySegment request = client.send(10, SendOpcode.SEND, Flags.SEND_SIGNALED, client.own(0, 9));
        request.set(JAVA_LONG, SendRequest.DATAGRAM_ADDRESS_HANDLE, destination.address());
        request.set(JAVA_INT, SendRequest.DATAGRAM_QUEUE_PAIR, server.number(receiver));
        request.set(JAVA_INT, SendRequest.DATAGRAM_QUEUE_KEY, 0x11);
        assertThat(client.postSend(sender, request)).isZero();
        client.expect(10, SUCCESS);
        MemorySegment received = server.expect(20, SUCCESS);
        assertThat(received.get(JAVA_INT, Completion.FLAGS)).isEqualTo(Flags.COMPLETION_GLOBAL_ROUTE);
        assertThat(received.get(JAVA_INT, Completion.LENGTH)).isEqualTo(49);
        assertThat(received.get(JAVA_BYTE, Completion.SERVICE_LEVEL)).isEqualTo(server.hasIpv4Path() ? (byte) 2 : 1);
        assertThat(received.get(JAVA_INT, Completion.SOURCE_QUEUE_PAIR)).isEqualTo(client.number(sender));
        assertThat(server.text(40)).isEqualTo("datagram");
    }

    @Test
    void anExtendedConnectionReachesASharedReceiveQueue() {
        int extended = server.create(Operation.OPEN_XRC_DOMAIN, server.device);
        int shared = server.create(Operation.CREATE_SRQ, server.domain, 16, 2, 0, 0x55, extended, server.queue);
        int number = (int) server.result(1);
        MemorySegment sizes = server.arena.allocate(Capabilities.BYTES, 8);
        int type = QueuePairType.XRC_RECEIVE.code();
        int target = server.create(Operation.CREATE_QP, 0, type, 0, 0, 0, sizes.address(), 0, 0x66, extended);
        int initiator = client.createQueuePair(QueuePairType.XRC_SEND);
        client.connect(initiator, server, target);
        server.connect(target, client, initiator);
        MemorySegment receive = server.receive(20, server.own(0, 100));
        assertThat(server.postReceive(target, receive)).isEqualTo(Errno.EINVAL.number());
        assertThat(DataPath.postSharedReceive(shared, receive.address(), server.bad.address()))
                .isZero();
        client.fill(0, "extended");
        MemorySegment request = client.send(10, SendOpcode.SEND, Flags.SEND_SIGNALED, client.own(0, 9));
        request.set(JAVA_INT, SendRequest.XRC_SHARED_RECEIVE_QUEUE, number);
        assertThat(client.postSend(initiator, request)).isZero();
        client.expect(10, SUCCESS);
        server.expect(20, SUCCESS);
        assertThat(server.text(0)).isEqualTo("extended");
        assertThat(server.call(Operation.CLOSE, extended)).isEqualTo(Errno.EBUSY.number());
        assertThat(server.call(Operation.CLOSE, target)).isZero();
        assertThat(server.call(Operation.CLOSE, shared)).isZero();
        assertThat(server.call(Operation.CLOSE, extended)).isZero();
    }

    @Test
    void theLimitOfASharedReceiveQueueCanBeChanged() {
        int shared = server.create(Operation.CREATE_SRQ, server.domain, 16, 2, 3, 0x55);
        assertThat(server.call(Operation.QUERY_SRQ, shared)).isZero();
        assertThat(server.result(3)).isEqualTo(3);
        int all = Flags.SHARED_RECEIVE_QUEUE_RESIZE | Flags.SHARED_RECEIVE_QUEUE_LIMIT;
        assertThat(server.call(Operation.MODIFY_SRQ, shared, 32, 5, all)).isZero();
        assertThat(server.call(Operation.QUERY_SRQ, shared)).isZero();
        assertThat(server.result(1)).isEqualTo(32);
        assertThat(server.result(3)).isEqualTo(5);
        assertThat(server.call(Operation.MODIFY_SRQ, shared, 0, 0, 4)).isEqualTo(Errno.EINVAL.number());
    }

    private static void ready(CEnd end, int queuePair) {
        MemorySegment attributes = end.arena.allocate(QueuePairAttributeFields.BYTES, 8);
        attributes.set(JAVA_INT, QueuePairAttributeFields.STATE, QueuePairState.INIT.code());
        attributes.set(JAVA_BYTE, QueuePairAttributeFields.PORT, (byte) 1);
        attributes.set(JAVA_INT, QueuePairAttributeFields.QUEUE_KEY, 0x11);
        int toInit =
                QueuePairMask.STATE | QueuePairMask.PARTITION_KEY_INDEX | QueuePairMask.PORT | QueuePairMask.QUEUE_KEY;
        assertThat(end.call(Operation.MODIFY_QP, queuePair, attributes.address(), toInit))
                .isZero();
        attributes.set(JAVA_INT, QueuePairAttributeFields.STATE, QueuePairState.READY_TO_RECEIVE.code());
        assertThat(end.call(Operation.MODIFY_QP, queuePair, attributes.address(), QueuePairMask.STATE))
                .isZero();
        attributes.set(JAVA_INT, QueuePairAttributeFields.STATE, QueuePairState.READY_TO_SEND.code());
        int toSend = QueuePairMask.STATE | QueuePairMask.SEND_PSN;
        assertThat(end.call(Operation.MODIFY_QP, queuePair, attributes.address(), toSend))
                .isZero();
    }

    // ---- events

    @Test
    void aChannelIsReadableWhileItHasAnEvent() throws Exception {
        int queuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        int peer = server.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        client.connect(queuePair, server, peer);
        server.connect(peer, client, queuePair);
        assertThat(client.call(Operation.NEXT_CHANNEL_EVENT, client.channel)).isEqualTo(Errno.EAGAIN.number());
        assertThat(DataPath.requestNotification(client.queue, 0)).isZero();
        assertThat(client.isReadable(CEnd.CHANNEL_DESCRIPTOR)).isFalse();
        MemorySegment write = client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 8));
        write.set(JAVA_LONG, SendRequest.RDMA_ADDRESS, server.memory.address());
        write.set(JAVA_INT, SendRequest.RDMA_KEY, server.remoteKey);
        assertThat(client.postSend(queuePair, write)).isZero();
        awaitReadable(CEnd.CHANNEL_DESCRIPTOR);
        assertThat(client.call(Operation.NEXT_CHANNEL_EVENT, client.channel)).isZero();
        assertThat(client.result(0)).isEqualTo(0xc0);
        assertThat(client.isReadable(CEnd.CHANNEL_DESCRIPTOR)).isFalse();
        client.expect(1, SUCCESS);
        assertThat(client.call(Operation.CLOSE, client.channel)).isEqualTo(Errno.EBUSY.number());
        assertThat(client.call(Operation.ACK_CQ_EVENTS, client.queue, 1)).isZero();
        assertThat(client.call(Operation.CLOSE, queuePair)).isZero();
        assertThat(client.call(Operation.CLOSE, client.queue)).isZero();
        assertThat(client.call(Operation.CLOSE, client.channel)).isZero();
    }

    private void awaitReadable(int descriptor) throws InterruptedException {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (!client.isReadable(descriptor)) {
            assertThat(System.nanoTime()).as("readable in time").isLessThan(deadline);
            Thread.sleep(1); // like C in poll: only the device's own thread drives it
        }
    }

    @Test
    void anAsynchronousEventNamesItsObject() throws Exception {
        int queuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        int peer = server.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        client.connect(queuePair, server, peer);
        server.connect(peer, client, queuePair);
        assertThat(client.call(Operation.NEXT_ASYNC_EVENT, client.device)).isEqualTo(Errno.EAGAIN.number());
        MemorySegment write = server.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, server.own(0, 8));
        write.set(JAVA_LONG, SendRequest.RDMA_ADDRESS, client.memory.address());
        write.set(JAVA_INT, SendRequest.RDMA_KEY, client.remoteKey + 1);
        assertThat(server.postSend(peer, write)).isZero();
        server.expect(1, CompletionStatus.REMOTE_ACCESS_ERROR.code());
        awaitReadable(CEnd.ASYNC_DESCRIPTOR);
        int type;
        do { // the first packet may also be reported
            assertThat(client.call(Operation.NEXT_ASYNC_EVENT, client.device)).isZero();
            type = (int) client.result(0);
            assertThat(client.result(1)).isEqualTo(0xabcd);
            assertThat(client.call(Operation.ACK_ASYNC_EVENT, client.device, client.result(3)))
                    .isZero();
        } while (type == AsyncEvent.Type.COMMUNICATION_ESTABLISHED.code());
        assertThat(type).isEqualTo(AsyncEvent.Type.QUEUE_PAIR_ACCESS_ERROR.code());
        assertThat(client.isReadable(CEnd.ASYNC_DESCRIPTOR)).isFalse();
        assertThat(client.call(Operation.CLOSE, queuePair)).isZero();
    }

    @Test
    void eventsOfAClosedQueueAreRemoved() throws Exception {
        int queuePair = client.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        int peer = server.createQueuePair(QueuePairType.RELIABLE_CONNECTION);
        client.connect(queuePair, server, peer);
        server.connect(peer, client, queuePair);
        assertThat(DataPath.requestNotification(client.queue, 0)).isZero();
        MemorySegment write = client.send(1, SendOpcode.RDMA_WRITE, Flags.SEND_SIGNALED, client.own(0, 8));
        write.set(JAVA_LONG, SendRequest.RDMA_ADDRESS, server.memory.address());
        write.set(JAVA_INT, SendRequest.RDMA_KEY, server.remoteKey);
        client.postSend(queuePair, write);
        awaitReadable(CEnd.CHANNEL_DESCRIPTOR);
        assertThat(client.call(Operation.CLOSE, queuePair)).isZero();
        assertThat(client.call(Operation.CLOSE, client.queue)).isZero();
        assertThat(client.isReadable(CEnd.CHANNEL_DESCRIPTOR)).isFalse();
    }
}
