package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.completion;
import static io.rdma4j.conformance.cm.Session.expect;
import static io.rdma4j.conformance.cm.Session.queuePair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Shared receive queues of identifiers. */
@Timeout(60)
class SharedReceivesOfIdTest {
    private static final SharedReceiveQueueInitAttributes RECEIVES = SharedReceiveQueueInitAttributes.of(8, 1);

    private final EventChannel clients = Session.channel();
    private final EventChannel servers = Session.channel();
    private final CmId listener = Session.listener(servers, TestDevices.address());
    private final InetSocketAddress target = new InetSocketAddress(TestDevices.address(), listener.sourcePort());

    @BeforeEach
    void require() {
        TestDevices.require(Capability.SHARED_RECEIVE_QUEUES);
    }

    private static Errno refused(Runnable call) {
        return catchThrowableOfType(RdmaException.class, call::run).errno();
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, whose reply does not announce a shared receive queue")
    void replyAnnouncesTheSharedQueueAndMessagesTakeItsReceives() {
        CmId client = Session.resolved(clients, null, target);
        client.destroyQueuePair();
        SharedReceiveQueue ofClient = client.createSharedReceiveQueue(RECEIVES);
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        assertThat(Objects.requireNonNull(client.queuePair()).sharedReceiveQueue())
                .isSameAs(ofClient);
        assertThat(client.sharedReceiveQueue()).isSameAs(ofClient);

        client.connect(ConnectionParameters.defaults());
        CmEvent request = expect(servers, CmEvent.Type.CONNECT_REQUEST);
        assertThat(request.connection().sharedReceiveQueue()).isTrue();
        CmId server = request.id();
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        CmEvent established = expect(clients, CmEvent.Type.ESTABLISHED);
        assertThat(established.connection().sharedReceiveQueue()).isFalse();
        expect(servers, CmEvent.Type.ESTABLISHED);

        assertArrives(server, client);
        Session.disconnect(clients, client, servers, server);
        client.destroyQueuePair();
        client.destroySharedReceiveQueue();
        assertThat(client.sharedReceiveQueue()).isNull();
        closeAll(client, server);
    }

    private static void assertArrives(CmId from, CmId to) {
        MemorySegment local = Arena.ofAuto().allocate(16);
        MemorySegment remote = Arena.ofAuto().allocate(16);
        local.setString(0, "shared");
        try (MemoryRegion sent = from.protectionDomain().register(local);
                MemoryRegion received = to.protectionDomain().register(remote, AccessFlag.LOCAL_WRITE)) {
            Objects.requireNonNull(to.sharedReceiveQueue())
                    .postReceive(new ReceiveWorkRequest().reset(1).into(received));
            queuePair(from).postSend(SendWorkRequest.send(2, sent).signaled());
            assertThat(completion(to.receiveCompletions()).id()).isEqualTo(1);
            assertThat(remote.getString(0)).isEqualTo("shared");
        }
    }

    @Test
    void queueOfOneIdentifierServesOthers() {
        CmId first = Session.resolved(clients, null, target);
        SharedReceiveQueue shared = first.createSharedReceiveQueue(RECEIVES);
        CmId second = Session.resolved(clients, null, target);
        second.destroyQueuePair();
        second.createQueuePair(QueuePairInitAttributes.of(SIZES).withSharedReceiveQueue(shared));
        CmId server = Session.connect(clients, second, servers);
        MemorySegment remote = Arena.ofAuto().allocate(16);
        try (MemoryRegion received = second.protectionDomain().register(remote, AccessFlag.LOCAL_WRITE)) {
            shared.postReceive(new ReceiveWorkRequest().reset(7).into(received));
            MemoryRegion sent = server.protectionDomain().register(remote);
            queuePair(server).postSend(SendWorkRequest.send(8, sent, 0, 4));
            assertThat(completion(second.receiveCompletions()).id()).isEqualTo(7);
        }
        assertThat(refused(first::destroySharedReceiveQueue)).isEqualTo(Errno.EBUSY);
        first.close();
        assertThat(shared.query().maxWorkRequests()).isGreaterThanOrEqualTo(8); // a kernel may round it up
        Session.disconnect(clients, second, servers, server);
        second.close();
        shared.close();
        closeAll(server);
    }

    @Test
    void identifierHasAtMostOneSharedQueue() {
        CmId client = Session.resolved(clients, null, target);
        client.createSharedReceiveQueue(RECEIVES);
        assertThat(refused(() -> client.createSharedReceiveQueue(RECEIVES))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> listenerWithoutDevice().createSharedReceiveQueue(RECEIVES)))
                .isEqualTo(Errno.EINVAL);
        closeAll(client);
    }

    private CmId listenerWithoutDevice() {
        return clients.createId(listener.portSpace());
    }

    private void closeAll(CmId... ids) {
        for (CmId id : ids) {
            id.close();
        }
        listener.close();
    }
}
