package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.expect;
import static io.rdma4j.conformance.cm.Session.listener;
import static io.rdma4j.conformance.cm.Session.next;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connection enhancement options are sent to the peer and back, for applications with their own queue pairs. */
@NotOn(value = Driver.SIW, because = "has iWARP, whose connection messages have no options")
class EnhancementTest {
    private static final InetAddress ADDRESS = TestDevices.freshAddress();

    private final EventChannel servers = EventChannel.open();
    private final EventChannel clients = EventChannel.open();
    private final List<AutoCloseable> resources = new ArrayList<>();
    private final CmId listener = listener(servers, ADDRESS);
    private final CmId client = clients.createId(PortSpace.TCP);

    @BeforeEach
    void resolve() {
        client.resolveAddress(new InetSocketAddress(ADDRESS, listener.sourcePort()), PATIENCE);
        expect(clients, CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        expect(clients, CmEvent.Type.ROUTE_RESOLVED);
    }

    /** Returns parameters for a queue pair of the application, which exists as long as the test. */
    private ConnectionParameters parameters(CmId id) {
        ProtectionDomain domain = id.verbs().createProtectionDomain();
        CompletionQueue queue = id.verbs().createCompletionQueue(32);
        QueuePair queuePair = domain.createQueuePair(QueuePairInitAttributes.reliable(queue, SIZES));
        resources.addAll(List.of(queuePair, queue, domain));
        return ConnectionParameters.defaults().withDepths(0, 0).withQueuePairNumber(queuePair.number());
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        for (AutoCloseable each : resources) {
            each.close();
        }
        listener.close();
        servers.close();
        clients.close();
    }

    @Test
    void optionsAreRequestedAndAnsweredWithTheVendorOfTheRequest() {
        client.setLocalEnhancement(new ConnectionEnhancement(0x0002c9, 0x8000_0003));
        client.connect(parameters(client));
        try (CmId server = expect(servers, CmEvent.Type.CONNECT_REQUEST).id()) {
            assertThat(server.remoteEnhancement()).isEqualTo(new ConnectionEnhancement(0x0002c9, 0x8000_0003));
            server.setLocalEnhancement(new ConnectionEnhancement(0xabcdef, 0x8000_0001));
            server.accept(parameters(server));
            expect(clients, CmEvent.Type.CONNECT_RESPONSE);
            assertThat(client.remoteEnhancement()).isEqualTo(new ConnectionEnhancement(0x0002c9, 0x8000_0001));
        }
    }

    @Test
    void withoutOptionsThereAreNone() {
        client.connect(parameters(client));
        try (CmId server = expect(servers, CmEvent.Type.CONNECT_REQUEST).id()) {
            assertThat(server.remoteEnhancement()).isEqualTo(ConnectionEnhancement.NONE);
            server.accept(parameters(server));
            expect(clients, CmEvent.Type.CONNECT_RESPONSE);
            assertThat(client.remoteEnhancement()).isEqualTo(ConnectionEnhancement.NONE);
        }
    }

    @Test
    void aRequestIsRejectedBecauseOfItsOptions() {
        client.setLocalEnhancement(new ConnectionEnhancement(0x0002c9, 1));
        client.connect(parameters(client));
        try (CmId server = expect(servers, CmEvent.Type.CONNECT_REQUEST).id()) {
            server.rejectEnhancement(new byte[] {7});
            CmEvent rejected = next(clients, CmEvent.Type.REJECTED);
            assertThat(rejected.status()).isEqualTo(RejectReason.VENDOR_OPTION_NOT_SUPPORTED.code());
            assertThat(rejected.privateData()).hasSize(148).startsWith(7);
            rejected.acknowledge();
        }
    }

    @Test
    void aQueuePairOfTheIdentifierHasTheOptionsOfItsDevice() {
        assertInvalid(() -> client.setLocalEnhancement(ConnectionEnhancement.NONE), "of no vendor");
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        assertInvalid(() -> client.setLocalEnhancement(new ConnectionEnhancement(1, 1)), "has a queue pair");
        assertInvalid(client::remoteEnhancement, "has a queue pair");
    }

    private static void assertInvalid(ThrowingCallable call, String why) {
        assertThatThrownBy(call)
                .hasMessageContaining(why)
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
    }
}
