package io.rdma4j.hardware.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.QueuePairCodec;
import io.rdma4j.verbs.abi.VerbsStructures.AddressVectorFields;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Compares the commands with the structures of a C compiler. */
class IdCommandsTest {
    private static final ConnectionEnhancement ENHANCEMENT = new ConnectionEnhancement(0xabcdef, 0x01020304);
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.9"), 7174);
    private static final Gid PEER_GID = Gid.of(PEER.getAddress());

    private final FakeKernel kernel = new FakeKernel();
    private final IdCommands commands = new IdCommands(kernel, 77, () -> "the identifier");

    private void assertSent(String name) {
        assertThat(kernel.last().header()).isEqualTo(CBytes.of(name));
        assertThat(kernel.last().structure()).isEqualTo(CBytes.of(name + ".structure"));
    }

    private static ConnectionParameters parameters() {
        return new ConnectionParameters("abc".getBytes(StandardCharsets.US_ASCII), 5, 6, true, 7, 4, true, 0x123456);
    }

    @Test
    void idIsCreatedAndDestroyed() {
        new KernelCm(kernel).createId(0x1122334455667788L, PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION);
        assertSent("create");
        commands.destroy();
        assertSent("destroy");
    }

    @Test
    void idOfTheKernelIsReturned() {
        kernel.answer(CmNumbers.CREATE_ID, new byte[] {1, 2, 0, 0});
        assertThat(new KernelCm(kernel).createId(1, PortSpace.UDP, QueuePairType.UNRELIABLE_DATAGRAM))
                .isEqualTo(0x0201);
    }

    @Test
    void linkLocalAddressIsBoundWithItsScope() throws UnknownHostException {
        commands.bind(new InetSocketAddress(java.net.Inet6Address.getByAddress(null, linkLocal(), 3), 7174));
        assertSent("bind");
    }

    private static byte[] linkLocal() {
        return InetAddress.ofLiteral("fe80::1").getAddress();
    }

    @Test
    void addressAndRouteAreResolved() {
        commands.resolveAddress(
                new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 0), PEER, Duration.ofSeconds(2));
        assertSent("resolve");
        commands.resolveRoute(Duration.ofNanos(1));
        assertSent("route");
    }

    @Test
    void addressesAreQueried() {
        kernel.answer(CmNumbers.QUERY, CBytes.of("answer.addresses"));
        IdCommands.Addresses addresses = commands.addresses("rdma_bind_addr");
        assertSent("query");
        assertThat(addresses.nodeGuid()).isEqualTo(0x0211223344556677L);
        assertThat(addresses.deviceIndex()).isEqualTo(4);
        assertThat(addresses.port()).isEqualTo(2);
        assertThat(addresses.local()).hasToString("/[fe80:0:0:0:0:0:0:1%3]:7174");
        assertThat(addresses.peer()).isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("2001:db8::9"), 40000));
    }

    @Test
    void kernelWithoutDeviceNumbersLeavesTheNumberUnknown() {
        byte[] old = java.util.Arrays.copyOf(CBytes.of("answer.addresses"), CmStructures.QueriedAddresses.DEVICE_INDEX);
        kernel.answer(CmNumbers.QUERY, old);
        assertThat(commands.addresses("rdma_bind_addr").deviceIndex()).isEqualTo(IdCommands.UNKNOWN_DEVICE);
    }

    @Test
    void connectionIsMade() {
        commands.connect(parameters(), ENHANCEMENT);
        assertSent("connect");
        commands.listen(128);
        assertSent("listen");
        commands.accept(9, parameters(), ENHANCEMENT);
        assertSent("accept");
        commands.establish();
        assertSent("establish");
    }

    @Test
    void connectionIsRefusedAndEnded() {
        commands.reject("no".getBytes(StandardCharsets.US_ASCII), 28);
        assertSent("reject");
        commands.disconnect();
        assertSent("disconnect");
        commands.notifyCommunicationEstablished();
        assertSent("notify");
    }

    @Test
    void groupIsJoinedAndLeft() {
        kernel.answer(CmNumbers.JOIN_GROUP, new byte[] {5, 0, 0, 0});
        InetSocketAddress group = new InetSocketAddress(InetAddress.ofLiteral("239.1.2.3"), 0);
        int membership = commands.join(10, group, MulticastJoinFlag.SEND_ONLY_FULL_MEMBER);
        assertSent("join");
        assertThat(membership).isEqualTo(5);
        commands.leave(membership);
        assertSent("leave");
    }

    @Test
    void optionsAreSet() {
        commands.setTypeOfService(0xe0);
        assertSent("tos");
        assertThat(kernel.last().value()).containsExactly(0xe0);
        commands.setReuseAddress(true);
        assertSent("reuse");
        assertThat(kernel.last().value()).containsExactly(1, 0, 0, 0);
        commands.setFamilyOnly(false);
        assertSent("afonly");
        assertThat(kernel.last().value()).containsExactly(0, 0, 0, 0);
        commands.setAckTimeout(14);
        assertSent("timeout");
        assertThat(kernel.last().value()).containsExactly(14);
    }

    @Test
    void pathIsAPathRecord() {
        RoutePath path = new RoutePath(PathMtu.MTU_1024, 96, 0x12345, 64, 18);
        commands.setPath(path, Gid.of(InetAddress.ofLiteral("192.0.2.1")), PEER_GID);
        assertSent("path");
        assertThat(kernel.last().value()).isEqualTo(CBytes.of("path.value"));
    }

    @Test
    void serviceLevelAndStaticRateOfTheKernelReachTheDevice() {
        kernel.answer(CmNumbers.INITIALIZE_ATTRIBUTES, CBytes.of("answer.rtr"));
        MemorySegment attributes = Arena.ofAuto().allocate(QueuePairAttributeFields.BYTES, 8);
        QueuePairCodec.write(attributes, commands.attributes(QueuePairState.READY_TO_RECEIVE));
        long path = QueuePairAttributeFields.ADDRESS_VECTOR;
        assertThat(attributes.get(JAVA_BYTE, path + AddressVectorFields.SERVICE_LEVEL))
                .isEqualTo((byte) 1);
        assertThat(attributes.get(JAVA_BYTE, path + AddressVectorFields.STATIC_RATE))
                .isEqualTo((byte) 5);
        assertThat(QueuePairCodec.read(attributes).addressVector())
                .isEqualTo(new AddressVector(3, PEER_GID, 0, 0x12345, 64, 32, 1, 5, 2));
    }

    @Test
    void attributesToReceiveAreRead() {
        kernel.answer(CmNumbers.INITIALIZE_ATTRIBUTES, CBytes.of("answer.rtr"));
        QueuePairAttributes attributes = commands.attributes(QueuePairState.READY_TO_RECEIVE);
        assertSent("attributes");
        assertThat(attributes.present())
                .containsExactlyInAnyOrder(
                        QueuePairAttribute.STATE,
                        QueuePairAttribute.ADDRESS_VECTOR,
                        QueuePairAttribute.PATH_MTU,
                        QueuePairAttribute.DESTINATION_QUEUE_PAIR,
                        QueuePairAttribute.RECEIVE_PSN,
                        QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC,
                        QueuePairAttribute.MIN_RNR_TIMER);
        assertThat(attributes.state()).isEqualTo(QueuePairState.READY_TO_RECEIVE);
        assertThat(attributes.addressVector()).isEqualTo(new AddressVector(3, PEER_GID, 0, 0x12345, 64, 32, 1, 5, 2));
        assertThat(attributes.pathMtu()).isEqualTo(PathMtu.MTU_1024);
        assertThat(attributes.destinationQueuePair()).isEqualTo(0x123456);
        assertThat(attributes.receivePsn()).isEqualTo(0xfedcba);
        assertThat(attributes.maxDestinationReadAtomic()).isEqualTo(16);
        assertThat(attributes.minRnrTimer()).isEqualTo(12);
    }

    @Test
    void attributesToSendAreRead() {
        kernel.answer(CmNumbers.INITIALIZE_ATTRIBUTES, CBytes.of("answer.rts"));
        QueuePairAttributes attributes = commands.attributes(QueuePairState.READY_TO_SEND);
        assertThat(attributes.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(attributes.sendPsn()).isEqualTo(0xabcdef);
        assertThat(attributes.timeout()).isEqualTo(14);
        assertThat(attributes.retryCount()).isEqualTo(6);
        assertThat(attributes.rnrRetry()).isEqualTo(5);
        assertThat(attributes.maxReadAtomic()).isEqualTo(4);
        assertThat(attributes.present()).hasSize(6);
    }

    @Test
    void firstAttributesAreRead() {
        kernel.answer(CmNumbers.INITIALIZE_ATTRIBUTES, CBytes.of("answer.init"));
        QueuePairAttributes attributes = commands.attributes(QueuePairState.INIT);
        assertThat(attributes.state()).isEqualTo(QueuePairState.INIT);
        assertThat(attributes.partitionKeyIndex()).isEqualTo(258);
        assertThat(attributes.port()).isEqualTo(2);
        assertThat(attributes.queueKey()).isEqualTo(0x01234567);
        assertThat(attributes.accessFlags()).isEqualTo(Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
        assertThat(attributes.present()).hasSize(5);
    }

    @Test
    void errorNamesOperationIdAndRemedy() {
        kernel.refuse(CmNumbers.BIND, Errno.EADDRINUSE);
        assertThatThrownBy(() -> commands.bind(PEER))
                .isInstanceOf(RdmaException.class)
                .hasMessage("rdma_bind_addr: Address already in use (EADDRINUSE): the identifier. "
                        + "Use another port, or setReuseAddress(true) on both before binding");
    }
}
