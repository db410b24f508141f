package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.transfer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressInformation.Hints;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Address look-ups, and endpoints created from their results. */
@Timeout(60)
class EndpointTest {
    private static final String ADDRESS = TestDevices.address().getHostAddress();
    private static final Hints PASSIVE = Hints.of(PortSpace.TCP, Flag.PASSIVE);

    private static InetSocketAddress address(String literal, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(literal), port);
    }

    @Test
    void aPassiveLookUpFindsTheSource() {
        assertThat(AddressInformation.lookUp("127.0.0.1", "7471", PASSIVE))
                .isEqualTo(new AddressInformation(
                        Set.of(Flag.PASSIVE),
                        QueuePairType.RELIABLE_CONNECTION,
                        PortSpace.TCP,
                        address("127.0.0.1", 7471),
                        null));
    }

    @Test
    void anActiveLookUpFindsTheDestinationAndTakesTheSourceOfTheHints() {
        Hints hints = Hints.of(PortSpace.TCP, Flag.NUMERIC_HOST, Flag.NO_ROUTE, Flag.FAMILY)
                .withSource(address("127.0.0.2", 0));
        AddressInformation found = AddressInformation.lookUp("127.0.0.1", "7471", hints);
        assertThat(found.flags()).isEmpty();
        assertThat(found.source()).isEqualTo(address("127.0.0.2", 0));
        assertThat(found.destination()).isEqualTo(address("127.0.0.1", 7471));
    }

    @Test
    void withoutNodeAPassiveAddressIsTheWildcardAndAnActiveOneLoopback() {
        assertThat(AddressInformation.lookUp(null, "7", PASSIVE).source()).isEqualTo(address("0.0.0.0", 7));
        assertThat(AddressInformation.lookUp(null, "7", PASSIVE.withFamily(StandardProtocolFamily.INET6))
                        .source())
                .isEqualTo(address("::", 7));
        Hints active = Hints.of(PortSpace.TCP);
        assertThat(AddressInformation.lookUp(null, "7", active.withFamily(StandardProtocolFamily.INET))
                        .destination())
                .isEqualTo(address("127.0.0.1", 7));
        assertThat(AddressInformation.lookUp(null, "7", active.withFamily(StandardProtocolFamily.INET6))
                        .destination())
                .isEqualTo(address("::1", 7));
    }

    @Test
    void withoutNodeAndServiceTheHintsAreTheResult() {
        AddressInformation found =
                AddressInformation.lookUp(null, null, Hints.of(PortSpace.TCP).withDestination(address("127.0.0.3", 9)));
        assertThat(found.destination()).isEqualTo(address("127.0.0.3", 9));
        assertThat(found.source()).isNull();
    }

    @Test
    void nothingAtAllIsInvalid() {
        assertThat(catchThrowableOfType(RdmaException.class, () -> AddressInformation.lookUp(null, null))
                        .errno())
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void failuresHaveTheCodesOfTheResolver() {
        assertThat(code("localhost", "1", Hints.of(PortSpace.TCP, Flag.NUMERIC_HOST)))
                .isEqualTo(-2);
        assertThat(code("", "1", PASSIVE)).isEqualTo(-2);
        assertThat(code("127.0.0.1", "x", PASSIVE)).isEqualTo(-8);
        assertThat(code("127.0.0.1", "65536", PASSIVE)).isEqualTo(-8);
        assertThat(code("127.0.0.1", "1", PASSIVE.withFamily(StandardProtocolFamily.INET6)))
                .isEqualTo(-9);
    }

    private static int code(String node, String service, Hints hints) {
        return catchThrowableOfType(AddressLookupException.class, () -> AddressInformation.lookUp(node, service, hints))
                .code();
    }

    @Test
    void endpointsConnectAndTheListenersQueuePairIsCreatedForTheRequest() {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.of(SIZES);
        CmId listener = ConnectionManager.ofProcess()
                .createEndpoint(AddressInformation.lookUp(ADDRESS, "0", PASSIVE), attributes);
        listener.listen(0);
        CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
            CmId server = listener.getRequest();
            assertThat(server.queuePair()).isNotNull();
            server.accept();
            return server;
        });
        CmId client = ConnectionManager.ofProcess()
                .createEndpoint(AddressInformation.lookUp(ADDRESS, String.valueOf(listener.sourcePort())), attributes);
        assertThat(Objects.requireNonNull(client.event()).type()).isEqualTo(CmEvent.Type.ROUTE_RESOLVED);
        client.connect();
        CmId server = accepted.join();
        transfer(client, server, "endpoints");
        transfer(server, client, "both ways");
        CompletableFuture<Void> parted = CompletableFuture.runAsync(client::disconnect);
        server.disconnect();
        parted.join();
        client.close();
        server.close();
        listener.close();
    }

    @Test
    void anEndpointWithoutAttributesHasNoQueuePair() {
        try (CmId client = ConnectionManager.ofProcess().createEndpoint(AddressInformation.lookUp(ADDRESS, "9"))) {
            assertThat(client.queuePair()).isNull();
            assertThat(client.hasDevice()).isTrue();
        }
    }

    @Test
    void anEndpointThatFailsLeavesItsPortFree() {
        AddressInformation passive;
        try (CmId first =
                ConnectionManager.ofProcess().createEndpoint(AddressInformation.lookUp(ADDRESS, "0", PASSIVE))) {
            passive = AddressInformation.lookUp(ADDRESS, String.valueOf(first.sourcePort()), PASSIVE);
            assertThat(catchThrowableOfType(
                                    RdmaException.class,
                                    () -> ConnectionManager.ofProcess().createEndpoint(passive))
                            .errno())
                    .isEqualTo(Errno.EADDRINUSE);
        }
        ConnectionManager.ofProcess().createEndpoint(passive).close();
    }

    @Test
    void anEndpointWithoutAddressIsInvalid() {
        AddressInformation nowhere = AddressInformation.lookUp(null, null, Hints.of(PortSpace.TCP));
        assertThat(catchThrowableOfType(
                        RdmaException.class, () -> ConnectionManager.ofProcess().createEndpoint(nowhere)))
                .hasMessageContaining("has no destination");
    }
}
