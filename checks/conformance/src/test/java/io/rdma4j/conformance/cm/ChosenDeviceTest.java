package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Only the device that the user has chosen is used, also by identifiers that are bound to a wildcard. */
@Timeout(60)
class ChosenDeviceTest {
    private static final String CHOICE = "rdma4j.device";
    private static final InetAddress ADDRESS = TestDevices.address();
    private static final InetAddress ANY = InetAddress.ofLiteral("0.0.0.0");

    private @Nullable String before;

    @BeforeEach
    void remember() {
        before = System.getProperty(CHOICE);
    }

    @AfterEach
    void restore() {
        choose(before);
    }

    private static void choose(@Nullable String device) {
        if (device == null) {
            System.clearProperty(CHOICE);
        } else {
            System.setProperty(CHOICE, device);
        }
    }

    @Test
    void wildcardStandsForTheAddressesOfTheChosenDevice() {
        InetAddress other = TestDevices.addressOfAnotherDevice();
        try (EventChannel servers = EventChannel.open();
                EventChannel clients = EventChannel.open()) {
            choose(ADDRESS.getHostAddress());
            CmId listener = servers.createId(PortSpace.TCP);
            listener.bindAddress(new InetSocketAddress(ANY, 0));
            listener.listen(0);
            choose(null);
            int port = listener.sourcePort();
            CmId refused = Session.resolved(clients, null, new InetSocketAddress(other, port));
            refused.connect();
            CmEvent rejection = Objects.requireNonNull(clients.await(PATIENCE), "the listener took the request");
            assertThat(rejection.type()).isEqualTo(CmEvent.Type.REJECTED);
            rejection.acknowledge();
            refused.close();
            CmId client = Session.resolved(clients, null, new InetSocketAddress(ADDRESS, port));
            Session.connect(clients, client, servers).close();
            client.close();
            listener.close();
        }
    }

    @Test
    void wildcardIsNotBoundIfTheChosenDeviceDoesNotExist() {
        choose("no_such_device");
        try (CmId id = CmId.create(PortSpace.TCP)) {
            RdmaException refused =
                    catchThrowableOfType(RdmaException.class, () -> id.bindAddress(new InetSocketAddress(ANY, 0)));
            assertThat(refused.errno()).isEqualTo(Errno.ENODEV);
            assertThat(refused).hasMessageContaining("no_such_device");
        }
    }

    @Test
    void chosenProviderWithoutDevicesIsNamed() {
        choose("hardware");
        assumeTrue(Device.list().isEmpty(), "this host has RDMA devices");
        RdmaException refused = catchThrowableOfType(RdmaException.class, () -> CmId.create(PortSpace.TCP));
        assertThat(refused.errno()).isEqualTo(Errno.ENODEV);
        assertThat(refused).hasMessageContaining("the provider hardware, which --device or RDMA4J_DEVICE requests");
    }

    @Test
    void wildcardIdentifierResolvesWithTheChosenDeviceOnly() {
        InetAddress other = TestDevices.addressOfAnotherDevice();
        choose(ADDRESS.getHostAddress());
        try (EventChannel channel = EventChannel.open();
                CmId id = channel.createId(PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(ANY, 0));
            id.resolveAddress(new InetSocketAddress(other, 1), PATIENCE);
            CmEvent failed = Objects.requireNonNull(channel.await(PATIENCE));
            failed.acknowledge();
            assertThat(failed.type()).isEqualTo(CmEvent.Type.ADDRESS_ERROR);
        }
    }
}
