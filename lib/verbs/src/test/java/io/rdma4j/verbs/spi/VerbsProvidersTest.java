package io.rdma4j.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests that no other device serves the address of an unusable device, unless the user names one. */
class VerbsProvidersTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("192.0.2.1");

    /** A device that the test only compares. */
    private record FakeDevice(String name) implements Device {
        @Override
        public long guid() {
            return 0;
        }

        @Override
        public DeviceContext open() {
            throw new AssertionError("nothing is opened");
        }
    }

    /** A provider that has one device, or refuses every address. */
    private record FakeProvider(String name, List<Device> devices, String reason) implements VerbsProvider {
        @Override
        public int preference() {
            return 0;
        }

        @Override
        public Optional<Device> deviceOf(InetAddress address) {
            return devices.stream().findFirst();
        }

        @Override
        public String refusal(InetAddress address) {
            return reason;
        }
    }

    private static final Device SOFTWARE = new FakeDevice("software");
    private static final List<VerbsProvider> PROVIDERS = List.of(
            new FakeProvider("hardware", List.of(), "card0, which this process cannot use: no permission"),
            new FakeProvider("soft", List.of(SOFTWARE), ""));

    private static Optional<Device> deviceOf(String requested) {
        return VerbsProviders.deviceOf(PROVIDERS, new DeviceChoice(requested), ADDRESS);
    }

    @Test
    void addressOfAnUnusableDeviceIsRefusedWithTheReason() {
        for (String requested : List.of("", "hardware")) {
            assertThatThrownBy(() -> deviceOf(requested))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("the local address 192.0.2.1 belongs to card0, which this process cannot use")
                    .hasMessageContaining("RDMA4J_DEVICE=soft");
        }
    }

    @Test
    void userWhoNamesTheSoftwareDeviceGetsIt() {
        assertThat(deviceOf("soft")).containsSame(SOFTWARE);
        assertThat(deviceOf("software")).containsSame(SOFTWARE);
    }

    @Test
    void addressThatNoProviderRefusesHasTheFirstDevice() {
        List<VerbsProvider> software = List.of(PROVIDERS.getLast());
        assertThat(VerbsProviders.deviceOf(software, new DeviceChoice(null), ADDRESS))
                .containsSame(SOFTWARE);
    }
}
