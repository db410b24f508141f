package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests that address resolution looks up the route at most once: to choose the provider, or in the provider. */
class AddressResolutionTest {
    private static final InetAddress LOCAL = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress PEER = InetAddress.ofLiteral("192.0.2.2");
    private static final InetSocketAddress DESTINATION = new InetSocketAddress(PEER, 7);
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final FakeProvider provider = new FakeProvider(LOCAL);
    private final EventChannel channel = ManagerAccess.managerOf(provider).openEventChannel();
    private final CmId id = channel.createId(PortSpace.TCP);

    private String lastCall() {
        return provider.ids.getFirst().calls.getLast();
    }

    @Test
    void routeThatChoosesTheProviderIsPassedOnToIt() {
        id.resolveAddress(DESTINATION, TIMEOUT);
        assertThat(provider.lookedUp).containsExactly(PEER);
        assertThat(lastCall()).isEqualTo("resolveAddress from null to /192.0.2.2:7 by /192.0.2.1");
    }

    @Test
    void wildcardSourceLeavesTheChoiceToTheRoute() {
        id.resolveAddress(new InetSocketAddress("0.0.0.0", 9), DESTINATION, TIMEOUT);
        assertThat(provider.lookedUp).containsExactly(PEER);
        assertThat(lastCall()).isEqualTo("resolveAddress from /0.0.0.0:9 to /192.0.2.2:7 by /192.0.2.1");
    }

    @Test
    void requiredSourceChoosesTheProviderWithoutALookup() {
        id.resolveAddress(new InetSocketAddress(LOCAL, 9), DESTINATION, TIMEOUT);
        assertThat(provider.lookedUp).isEmpty();
        assertThat(lastCall()).isEqualTo("resolveAddress from /192.0.2.1:9 to /192.0.2.2:7 by null");
    }

    @Test
    void identifierOfAWildcardKeepsItsProviderIdentifier() {
        id.bindAddress(new InetSocketAddress("0.0.0.0", 0));
        id.resolveAddress(DESTINATION, TIMEOUT);
        assertThat(provider.ids).hasSize(1);
        assertThat(provider.lookedUp).containsExactly(PEER);
        assertThat(lastCall()).isEqualTo("resolveAddress from null to /192.0.2.2:7 by /192.0.2.1");
    }

    @Test
    void identifierOfAWildcardCannotUseTheAddressOfAnUnusableDevice() {
        id.bindAddress(new InetSocketAddress("0.0.0.0", 0));
        provider.refusal = "card0, which this process cannot use: no permission";
        id.resolveAddress(DESTINATION, TIMEOUT);
        try (CmEvent event = channel.await()) {
            assertThat(event.type()).isEqualTo(CmEvent.Type.ADDRESS_ERROR);
            assertThat(event.explanation()).contains("192.0.2.1").contains("belongs to card0");
        }
        assertThatThrownBy(() -> id.resolveAddress(new InetSocketAddress(LOCAL, 0), DESTINATION, TIMEOUT))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("the local address 192.0.2.1 belongs to card0");
        assertThat(lastCall()).isEqualTo("bind");
    }

    @Test
    void addressOfAnUnusableDeviceIsRefusedWithTheReason() {
        provider.refusal = "card0, which this process cannot use: no permission";
        id.resolveAddress(DESTINATION, TIMEOUT);
        try (CmEvent event = channel.await()) {
            assertThat(event.type()).isEqualTo(CmEvent.Type.ADDRESS_ERROR);
            assertThat(event.status()).isEqualTo(-Errno.ENODEV.number());
            assertThat(event.explanation())
                    .contains(
                            "192.0.2.1, the address of this host that leads there, belongs to card0, which this process"
                                    + " cannot use: no permission (ENODEV)")
                    .contains("RDMA4J_DEVICE=soft");
        }
        assertThatThrownBy(() -> id.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("the local address 127.0.0.1 belongs to card0")
                .hasMessageContaining("RDMA4J_DEVICE=soft");
    }

    @Test
    void wildcardDestinationMeansTheLoopbackAddress() {
        id.resolveAddress(new InetSocketAddress("0.0.0.0", 7), TIMEOUT);
        assertThat(provider.lookedUp).containsExactly(InetAddress.ofLiteral("127.0.0.1"));
        assertThat(lastCall()).isEqualTo("resolveAddress from null to /127.0.0.1:7 by /192.0.2.1");
    }
}
