package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PhysicalPortState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The attributes of a device and its port agree with what they do. */
@Timeout(30)
class AttributesTest {
    private TestEndpoint endpoint;
    private DeviceContext context;
    private DeviceAttributes device;
    private PortAttributes port;

    @BeforeEach
    void open() {
        endpoint = new TestEndpoint(TestDevices.freshAddress());
        context = endpoint.context;
        device = context.attributes();
        port = context.port(1);
    }

    @AfterEach
    void close() {
        endpoint.close();
    }

    @Test
    void limitsArePositive() {
        assertThat(device.maxQueuePairs()).isPositive();
        assertThat(device.maxReadScatterGather()).isBetween(1, Integer.MAX_VALUE);
        assertThat(device.pageSizes() & 4096).isEqualTo(4096);
        assertThat(device.ports()).isPositive();
        assertThat(device.maxPartitionKeys()).isGreaterThanOrEqualTo(0);
    }

    @Test
    void responderResourcesSufficeForOneQueuePair() {
        if (context.device().transportType() == TransportType.INFINIBAND) {
            assertThat(device.maxResponderResources()).isGreaterThanOrEqualTo(device.maxReadAtomicPerQueuePair());
            assertThat(device.atomicCapability()).isNotEqualTo(AtomicCapability.NONE);
        }
    }

    @Test
    void multicastLimitsExistWhereGroupsDo() {
        TestDevices.require(Capability.MULTICAST);
        assertThat(device.maxMulticastGroups()).isPositive();
        assertThat(device.maxMulticastQueuePairs()).isPositive();
        assertThat(device.maxMulticastAttachments()).isGreaterThanOrEqualTo(device.maxMulticastQueuePairs());
    }

    @Test
    void extendedConnectionsAreReported() {
        TestDevices.require(Capability.EXTENDED_CONNECTIONS);
        assertThat(device.capabilities()).contains(DeviceCapability.XRC);
    }

    @Test
    void windowsAreReported() {
        TestDevices.require(Capability.MEMORY_WINDOWS);
        assertThat(device.capabilities()).contains(DeviceCapability.MEMORY_WINDOW);
        assertThat(device.maxMemoryWindows()).isPositive();
    }

    @Test
    void capabilitiesAreThoseOfTheBits() {
        for (DeviceCapability each : DeviceCapability.values()) {
            assertThat(device.capabilities().contains(each)).isEqualTo((device.capabilityBits() & each.bit()) != 0);
        }
    }

    @Test
    void portIsActiveEthernet() {
        assertThat(port.state()).isEqualTo(PortState.ACTIVE);
        assertThat(port.isActive()).isTrue();
        assertThat(port.linkLayer()).isEqualTo(LinkLayer.ETHERNET);
        if (context.device().transportType() == TransportType.INFINIBAND) {
            assertThat(port.physicalState()).isEqualTo(PhysicalPortState.LINK_UP);
        }
        assertThat(port.megabitsPerSecond()).isGreaterThanOrEqualTo(2_500);
        assertThat(port.localIdentifier()).isZero();
    }

    @Test
    void partitionTableHasTheReportedLength() {
        for (int i = 0; i < port.partitionKeyTableLength(); i++) {
            assertThat(context.partitionKey(1, i)).isBetween(0, 0xffff);
        }
        int end = port.partitionKeyTableLength();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> context.partitionKey(1, end));
    }

    @Test
    void gidTableHasTheEntriesOfTheGids() {
        List<Gid> gids = context.gids(1);
        List<GidEntry> table = context.gidTable(1);
        assertThat(table).isNotEmpty();
        for (GidEntry entry : table) {
            assertThat(entry.gid()).isEqualTo(gids.get(entry.index()));
            assertThat(entry.port()).isEqualTo(1);
        }
    }

    @Test
    void addressHandleOfAnotherPortIsRefused() {
        TestDevices.require(Capability.DATAGRAMS);
        if (device.capabilities().contains(DeviceCapability.DATAGRAM_PORT_ENFORCED)) {
            AddressVector vector = AddressVector.of(0, Gid.of(endpoint.address)).withPort(device.ports() + 1);
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> endpoint.domain.createAddressHandle(vector))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }
}
