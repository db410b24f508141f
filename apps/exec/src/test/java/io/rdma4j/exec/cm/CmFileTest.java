package io.rdma4j.exec.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures.Attributes;
import io.rdma4j.cm.abi.CmStructures.Connect;
import io.rdma4j.cm.abi.CmStructures.DestroyId;
import io.rdma4j.cm.abi.CmStructures.Disconnect;
import io.rdma4j.cm.abi.CmStructures.Event;
import io.rdma4j.cm.abi.CmStructures.InitializeAttributes;
import io.rdma4j.cm.abi.CmStructures.JoinIpGroup;
import io.rdma4j.cm.abi.CmStructures.PathData;
import io.rdma4j.cm.abi.CmStructures.QueriedAddresses;
import io.rdma4j.cm.abi.CmStructures.QueriedPaths;
import io.rdma4j.cm.abi.CmStructures.QueriedRoute;
import io.rdma4j.cm.abi.CmStructures.Query;
import io.rdma4j.cm.abi.CmStructures.Reject;
import io.rdma4j.cm.abi.CmStructures.SetOption;
import io.rdma4j.cm.abi.CmStructures.UserPath;
import io.rdma4j.cm.abi.CmStructures.WriteEvent;
import io.rdma4j.cm.abi.KernelAttributes;
import io.rdma4j.cm.abi.KernelParameters;
import io.rdma4j.cm.abi.PathRecord;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the device file with two programs that connect by librdmacm's commands. */
class CmFileTest {
    private static final int SERVER_UID = 0x51;
    private static final int CLIENT_UID = 0xc1;
    private static final int ACCEPTED_UID = 0xa1;

    private final TestNetwork network = new TestNetwork();
    private final TestHost serverHost = network.addHost("192.0.2.1");
    private final Program server = new Program(serverHost);
    private final Program client = new Program(network.addHost("192.0.2.2"));
    private final InetSocketAddress service = new InetSocketAddress(serverHost.address(), 7471);
    private final CmFile serverFile = server.open();
    private final CmFile clientFile = client.open();

    @AfterEach
    void close() {
        server.files.close(serverFile);
        client.files.close(clientFile);
        server.close();
        client.close();
        network.close();
    }

    private static ConnectionParameters parameters(String privateData, int queuePair) {
        return ConnectionParameters.defaults()
                .withDepths(3, 5)
                .withPrivateData(privateData.getBytes(StandardCharsets.US_ASCII))
                .withQueuePairNumber(queuePair);
    }

    /** Makes the server listen and the client request a connection; returns the number of the client's identifier. */
    private int request(int listener) {
        server.listen(serverFile, listener, service, 1);
        int active = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        client.resolve(clientFile, active, service);
        client.connect(clientFile, active, parameters("hello", 0x11), Connect.BYTES);
        return active;
    }

    @Test
    void twoIdentifiersConnectAndDisconnect() {
        int listener = server.create(serverFile, SERVER_UID, PortSpace.TCP);
        int active = request(listener);

        MemorySegment request = server.expect(serverFile, CmEvent.Type.CONNECT_REQUEST);
        int passive = Fields.intAt(request, Event.ID);
        assertThat(Fields.longAt(request, Event.UID)).isEqualTo(SERVER_UID);
        assertThat(passive).isNotEqualTo(listener);
        ConnectionParameters wanted = KernelParameters.connection(request.asSlice(Event.PARAMETERS));
        assertThat(new String(wanted.privateData(), 0, 5, StandardCharsets.US_ASCII))
                .isEqualTo("hello");
        assertThat(wanted.responderResources()).isEqualTo(5);
        assertThat(wanted.initiatorDepth()).isEqualTo(3);
        assertThat(wanted.queuePairNumber()).isEqualTo(0x11);

        server.accept(serverFile, passive, ACCEPTED_UID, parameters("welcome", 0x22));
        MemorySegment response = client.expect(clientFile, CmEvent.Type.CONNECT_RESPONSE);
        assertThat(Fields.longAt(response, Event.UID)).isEqualTo(CLIENT_UID);
        assertThat(attributes(active).destinationQueuePair()).isEqualTo(0x22);
        client.accept(clientFile, active, 0, null);
        MemorySegment established = server.expect(serverFile, CmEvent.Type.ESTABLISHED);
        assertThat(Fields.longAt(established, Event.UID)).isEqualTo(ACCEPTED_UID);
        assertThat(Fields.intAt(established, Event.ID)).isEqualTo(passive);

        assertThat(client.simple(clientFile, CmNumbers.DISCONNECT, Disconnect.BYTES, active))
                .isZero();
        server.expect(serverFile, CmEvent.Type.DISCONNECTED);
        assertThat(server.simple(serverFile, CmNumbers.DISCONNECT, Disconnect.BYTES, passive))
                .isZero();
        client.expect(clientFile, CmEvent.Type.DISCONNECTED);
        assertThat(server.destroy(serverFile, passive)).isEqualTo(2);
        assertThat(server.destroy(serverFile, listener)).as("the request").isEqualTo(1);
        assertThat(client.destroy(clientFile, active)).isEqualTo(4);
    }

    private QueuePairAttributes attributes(int active) {
        MemorySegment response = client.marked(Attributes.BYTES);
        assertThat(client.ask(
                        clientFile,
                        CmNumbers.INITIALIZE_ATTRIBUTES,
                        InitializeAttributes.BYTES,
                        InitializeAttributes.RESPONSE,
                        response,
                        Attributes.BYTES,
                        initialize -> {
                            Fields.putInt(initialize, InitializeAttributes.ID, active);
                            Fields.putInt(
                                    initialize, InitializeAttributes.STATE, QueuePairState.READY_TO_RECEIVE.code());
                        }))
                .isZero();
        QueuePairAttributes attributes = KernelAttributes.read(response);
        assertThat(attributes.present()).contains(QueuePairAttribute.ADDRESS_VECTOR, QueuePairAttribute.PATH_MTU);
        return attributes;
    }

    @Test
    void aRejectionReachesThePeer() {
        request(server.create(serverFile, SERVER_UID, PortSpace.TCP));
        int passive = Fields.intAt(server.expect(serverFile, CmEvent.Type.CONNECT_REQUEST), Event.ID);
        assertThat(server.send(serverFile, CmNumbers.REJECT, Reject.BYTES, reject -> {
                    Fields.putInt(reject, Reject.ID, passive);
                    Fields.putByte(reject, Reject.PRIVATE_DATA_BYTES, 2);
                    Fields.putBytes(reject, Reject.PRIVATE_DATA, new byte[] {1, 2});
                }))
                .isZero();
        MemorySegment rejected = client.expect(clientFile, CmEvent.Type.REJECTED);
        assertThat(Fields.intAt(rejected, Event.STATUS)).isEqualTo(28);
        assertThat(server.destroy(serverFile, passive)).isZero();
    }

    @Test
    void destroyingAListenerRejectsPendingRequests() {
        int listener = server.create(serverFile, SERVER_UID, PortSpace.TCP);
        request(listener);
        awaitReadable(server);
        assertThat(server.destroy(serverFile, listener)).isZero();
        assertThat(server.isReadable(0)).isFalse();
        client.expect(clientFile, CmEvent.Type.REJECTED);
    }

    @Test
    void aRequestReplacesAWithdrawnOne() {
        int listener = server.create(serverFile, SERVER_UID, PortSpace.TCP);
        int withdrawn = request(listener);
        awaitReadable(server);
        int first = numberOfFirstEvent();
        client.destroy(clientFile, withdrawn);
        int active = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        client.resolve(clientFile, active, service);
        client.connect(clientFile, active, parameters("hello", 0x12), Connect.BYTES);
        long end = System.nanoTime() + 10_000_000_000L;
        while ((numberOfFirstEvent() == first || numberOfFirstEvent() < 0) && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        MemorySegment request = server.expect(serverFile, CmEvent.Type.CONNECT_REQUEST);
        assertThat(KernelParameters.connection(request.asSlice(Event.PARAMETERS))
                        .queuePairNumber())
                .isEqualTo(0x12);
        assertThat(server.isReadable(0)).isFalse();
        assertThat(serverFile.identifiers()).hasSize(2);
    }

    /** Returns the number of the oldest event's identifier, or -1 while there is none. */
    private int numberOfFirstEvent() {
        synchronized (server.files) {
            PendingEvent first = serverFile.first();
            return first == null ? -1 : first.number();
        }
    }

    private static void awaitReadable(Program program) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (!program.isReadable(0) && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(program.isReadable(0)).isTrue();
    }

    @Test
    void migratingAListenerMovesItsRequests() {
        int listener = server.create(serverFile, SERVER_UID, PortSpace.TCP);
        int other = server.create(serverFile, 0x99, PortSpace.TCP);
        assertThat(writeEvent(server, serverFile, other, 7)).isZero();
        request(listener);
        long end = System.nanoTime() + 10_000_000_000L;
        while (serverFile.identifiers().size() < 3 && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        CmFile second = server.open();
        MemorySegment reported = server.marked(4);
        assertThat(server.migrate(second, listener, second, reported))
                .as("from a file to which it does not belong")
                .isEqualTo(Errno.EINVAL.number());
        assertThat(server.migrate(serverFile, listener, second, reported)).isZero();
        assertThat(Fields.intAt(reported, 0)).isZero();
        assertThat(server.isReadable(1)).isTrue();
        int passive = Fields.intAt(server.expect(second, CmEvent.Type.CONNECT_REQUEST), Event.ID);
        assertThat(server.isReadable(1)).isFalse();
        server.accept(second, passive, ACCEPTED_UID, parameters("", 0x22));
        client.expect(clientFile, CmEvent.Type.CONNECT_RESPONSE);
        server.expect(serverFile, CmEvent.Type.USER);
        assertThat(server.simple(serverFile, CmNumbers.DISCONNECT, Disconnect.BYTES, passive))
                .as("through the old file")
                .isEqualTo(Errno.EINVAL.number());
        server.files.close(second);
    }

    private static int writeEvent(Program program, CmFile file, int id, long argument) {
        return program.send(file, CmNumbers.WRITE_EVENT, WriteEvent.BYTES, write -> {
            Fields.putInt(write, WriteEvent.ID, id);
            Fields.putInt(write, WriteEvent.TYPE, CmEvent.Type.USER.code());
            Fields.putInt(write, WriteEvent.STATUS, -3);
            Fields.putLong(write, WriteEvent.ARGUMENT, argument);
        });
    }

    @Test
    void aWrittenEventArrivesWithItsArgument() {
        int id = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        assertThat(writeEvent(client, clientFile, id, 0x1234_5678_9abcL)).isZero();
        MemorySegment event = client.expect(clientFile, CmEvent.Type.USER);
        assertThat(Fields.intAt(event, Event.STATUS)).isEqualTo(-3);
        assertThat(Fields.longAt(event, Event.PARAMETERS)).isEqualTo(0x1234_5678_9abcL);
        assertThat(client.take(clientFile, event, Event.BYTES)).isEqualTo(Errno.EAGAIN.number());
    }

    @Test
    void aDatagramServiceIsResolved() {
        int listener = server.create(serverFile, SERVER_UID, PortSpace.UDP);
        server.listen(serverFile, listener, service, 0);
        int active = client.create(clientFile, CLIENT_UID, PortSpace.UDP);
        client.resolve(clientFile, active, service);
        client.connect(clientFile, active, parameters("hello", 0x11), Connect.BYTES);
        MemorySegment request = server.expect(serverFile, CmEvent.Type.CONNECT_REQUEST);
        byte[] privateData = KernelParameters.datagramPrivateData(request.asSlice(Event.PARAMETERS));
        assertThat(new String(privateData, 0, 5, StandardCharsets.US_ASCII)).isEqualTo("hello");
        server.accept(serverFile, Fields.intAt(request, Event.ID), ACCEPTED_UID, parameters("", 0x33));
        MemorySegment established = client.expect(clientFile, CmEvent.Type.ESTABLISHED);
        var datagram = KernelParameters.datagram(established.asSlice(Event.PARAMETERS), new byte[0]);
        assertThat(datagram.queuePairNumber()).isEqualTo(0x33);
        assertThat(datagram.addressVector().destination()).isEqualTo(Gid.of(serverHost.address()));
    }

    @Test
    void aGroupIsJoinedAndLeft() throws Exception {
        int id = client.create(clientFile, CLIENT_UID, PortSpace.UDP);
        assertThat(client.bind(clientFile, id, new InetSocketAddress(InetAddress.getByName("192.0.2.2"), 0)))
                .isZero();
        MemorySegment response = client.marked(4);
        InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.3"), 0);
        assertThat(client.ask(
                        clientFile,
                        CmNumbers.JOIN_IP_GROUP,
                        JoinIpGroup.BYTES,
                        JoinIpGroup.RESPONSE,
                        response,
                        4,
                        join -> {
                            Fields.putInt(join, JoinIpGroup.ID, id);
                            Fields.putLong(join, JoinIpGroup.UID, 0x77);
                            SocketAddresses.write(join, JoinIpGroup.ADDRESS, group);
                        }))
                .isZero();
        int membership = Fields.intAt(response, 0);
        MemorySegment joined = client.expect(clientFile, CmEvent.Type.MULTICAST_JOIN);
        assertThat(Fields.longAt(joined, Event.UID)).isEqualTo(0x77);
        assertThat(Fields.intAt(joined, Event.ID)).isEqualTo(membership);
        assertThat(leave(membership, response)).isZero();
        assertThat(Fields.intAt(response, 0)).isEqualTo(1);
        assertThat(leave(membership, response)).isEqualTo(Errno.ENOENT.number());
        assertThat(client.destroy(clientFile, id))
                .as("including the event of the group")
                .isEqualTo(1);
    }

    private int leave(int membership, MemorySegment response) {
        return client.ask(
                clientFile,
                CmNumbers.LEAVE_GROUP,
                DestroyId.BYTES,
                DestroyId.RESPONSE,
                response,
                4,
                leave -> Fields.putInt(leave, DestroyId.ID, membership));
    }

    @Test
    void anIdentifierThatIsOnlyBoundToALoopbackAddressHasNoDevice() {
        Program alone = new Program(network.addHost("127.0.0.1"));
        CmFile file = alone.open();
        InetSocketAddress loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);
        int id = alone.create(file, 1, PortSpace.TCP);
        assertThat(alone.bind(file, id, loopback)).isZero();
        assertThat(deviceOf(alone, file, id)).isZero();
        alone.resolveAddress(file, id, loopback);
        assertThat(deviceOf(alone, file, id)).isNotZero();
        alone.files.close(file);
        alone.close();
    }

    private static long deviceOf(Program program, CmFile file, int id) {
        MemorySegment route = program.marked(QueriedRoute.BYTES);
        assertThat(program.ask(
                        file,
                        CmNumbers.QUERY_ROUTE,
                        Query.BYTES,
                        Query.RESPONSE,
                        route,
                        QueriedRoute.BYTES,
                        query -> Fields.putInt(query, Query.ID, id)))
                .isZero();
        return Fields.longAt(route, QueriedRoute.NODE_GUID);
    }

    @Test
    void theRouteHasAPathOnceItIsResolved() {
        int active = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        MemorySegment route = query(active, CmNumbers.QUERY_ROUTE, 0, QueriedRoute.BYTES, QueriedRoute.BYTES);
        assertThat(Fields.longAt(route, QueriedRoute.NODE_GUID)).isZero();
        client.resolve(clientFile, active, service);
        // The size of the response in a librdmacm before version 23.
        route = query(active, CmNumbers.QUERY_ROUTE, 0, QueriedRoute.BYTES, QueriedRoute.DEVICE_INDEX);
        assertThat(Fields.intAt(route, QueriedRoute.PATH_COUNT)).isEqualTo(1);
        assertThat(Fields.longAt(route, QueriedRoute.NODE_GUID)).isNotZero();
        assertThat(Fields.byteAt(route, QueriedRoute.PORT)).isEqualTo(1);
        assertThat(SocketAddresses.read(route, QueriedRoute.PEER)).isEqualTo(service);
        assertThat(Fields.gidAt(route, QueriedRoute.PATHS + UserPath.DESTINATION_GID))
                .isEqualTo(Gid.of(serverHost.address()));
        assertThat(Program.isUntouched(route, QueriedRoute.DEVICE_INDEX)).isTrue();

        int room = QueriedPaths.BYTES + 2 * PathData.BYTES;
        MemorySegment paths = query(active, CmNumbers.QUERY, CmNumbers.QUERY_PATHS, room, room);
        assertThat(Fields.intAt(paths, QueriedPaths.PATH_COUNT)).isEqualTo(1);
        assertThat(PathRecord.read(paths.asSlice(QueriedPaths.PATHS)).hopLimit())
                .isEqualTo(64);
        assertThat(Program.isUntouched(paths, QueriedPaths.BYTES + PathData.BYTES))
                .isTrue();

        MemorySegment gids = query(active, CmNumbers.QUERY, CmNumbers.QUERY_GIDS, 280, 280);
        assertThat(SocketAddresses.readGid(gids, QueriedAddresses.PEER)).isEqualTo(Gid.of(serverHost.address()));
        MemorySegment addresses = query(active, CmNumbers.QUERY, CmNumbers.QUERY_ADDRESSES, 280, 280);
        assertThat(Fields.shortAt(addresses, QueriedAddresses.PEER_BYTES)).isEqualTo(16);
        assertThat(Fields.intAt(addresses, QueriedAddresses.DEVICE_INDEX)).isEqualTo(-1);
    }

    private MemorySegment query(int id, int command, int option, int bytes, int known) {
        MemorySegment response = client.marked(bytes);
        assertThat(client.ask(clientFile, command, Query.BYTES, Query.RESPONSE, response, known, query -> {
                    Fields.putInt(query, Query.ID, id);
                    Fields.putInt(query, Query.OPTION, option);
                }))
                .isZero();
        return response;
    }

    @Test
    void anUnsuitablePathIsRefused() {
        int active = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        client.resolve(clientFile, active, service);
        int room = QueriedPaths.BYTES + PathData.BYTES;
        MemorySegment paths = query(active, CmNumbers.QUERY, CmNumbers.QUERY_PATHS, room, room);
        MemorySegment path = paths.asSlice(QueriedPaths.PATHS, PathData.BYTES);
        assertThat(setOption(active, CmNumbers.LEVEL_PATH, CmNumbers.OPTION_PATH, path))
                .as("after the route is resolved")
                .isEqualTo(Errno.EINVAL.number());
        Fields.putInt(path, PathData.FLAGS, 0);
        assertThat(setOption(active, CmNumbers.LEVEL_PATH, CmNumbers.OPTION_PATH, path))
                .as("a path that is not primary")
                .isEqualTo(Errno.EINVAL.number());
    }

    @Test
    void aPathCanBeSetAfterTheAddressIsResolved() {
        int active = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        MemorySegment path = client.arena.allocate(PathData.BYTES, 8);
        Gid any = Gid.ZERO;
        PathRecord.write(path, new RoutePath(PathMtu.MTU_512, 3, 4, 5, 6), any, any);
        assertThat(setOption(active, CmNumbers.LEVEL_PATH, CmNumbers.OPTION_PATH, path))
                .as("without a device")
                .isEqualTo(Errno.EINVAL.number());
        client.resolveAddress(clientFile, active, service);
        assertThat(setOption(active, CmNumbers.LEVEL_PATH, CmNumbers.OPTION_PATH, path))
                .isZero();
        client.expect(clientFile, CmEvent.Type.ROUTE_RESOLVED);
        int room = QueriedPaths.BYTES + PathData.BYTES;
        MemorySegment paths = query(active, CmNumbers.QUERY, CmNumbers.QUERY_PATHS, room, room);
        assertThat(PathRecord.read(paths.asSlice(QueriedPaths.PATHS)))
                .isEqualTo(new RoutePath(PathMtu.MTU_512, 3, 4, 5, 6));
    }

    private int setOption(int id, int level, int name, MemorySegment value) {
        return client.send(clientFile, CmNumbers.SET_OPTION, SetOption.BYTES, option -> {
            Fields.putLong(option, SetOption.VALUE, value.address());
            Fields.putInt(option, SetOption.ID, id);
            Fields.putInt(option, SetOption.LEVEL, level);
            Fields.putInt(option, SetOption.NAME, name);
            Fields.putInt(option, SetOption.VALUE_BYTES, (int) value.byteSize());
        });
    }

    @Test
    void optionsMustHaveTheSizesOfTheKernel() {
        int id = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        MemorySegment one = client.arena.allocate(1);
        MemorySegment four = client.arena.allocate(4, 4);
        int level = CmNumbers.LEVEL_ID;
        assertThat(setOption(id, level, CmNumbers.OPTION_TYPE_OF_SERVICE, one)).isZero();
        assertThat(setOption(id, level, CmNumbers.OPTION_ACK_TIMEOUT, one)).isZero();
        assertThat(setOption(id, level, CmNumbers.OPTION_REUSE_ADDRESS, four)).isZero();
        assertThat(setOption(id, level, CmNumbers.OPTION_FAMILY_ONLY, four)).isZero();
        assertThat(setOption(id, level, CmNumbers.OPTION_TYPE_OF_SERVICE, four)).isEqualTo(Errno.EINVAL.number());
        assertThat(setOption(id, level, CmNumbers.OPTION_REUSE_ADDRESS, one)).isEqualTo(Errno.EINVAL.number());
        assertThat(setOption(id, level, 99, one)).isEqualTo(Errno.ENOSYS.number());
        assertThat(setOption(id, 99, 0, one)).isEqualTo(Errno.ENOSYS.number());
    }

    @Test
    void structuresOfOldLibrariesAreAccepted() {
        int listener = server.create(serverFile, SERVER_UID, PortSpace.TCP);
        server.listen(serverFile, listener, service, 0);
        int active = client.create(clientFile, CLIENT_UID, PortSpace.TCP);
        client.resolve(clientFile, active, service);
        client.connect(clientFile, active, parameters("", 0x11), Connect.ENHANCEMENT);
        MemorySegment event = server.marked(Event.BYTES);
        awaitReadable(server);
        assertThat(server.take(serverFile, event, Event.ENHANCEMENT - 8)).isEqualTo(Errno.ENOSPC.number());
        assertThat(server.take(serverFile, event, Event.ENHANCEMENT - 4)).isZero();
        assertThat(Fields.intAt(event, Event.TYPE)).isEqualTo(CmEvent.Type.CONNECT_REQUEST.code());
        assertThat(Program.isUntouched(event, Event.ENHANCEMENT - 4)).isTrue();
    }
}
