package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.verbs.Device;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** GUIDs of devices, which do not depend on the process. */
class NodeGuidTest {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    @Test
    void guidOfAnEthernetDeviceIsTheSameAsRxes() {
        byte[] address = {0x52, 0x54, 0x00, (byte) 0xfe, (byte) 0x88, 0x02};
        assertThat(NodeGuid.ofEthernet(address)).isEqualTo(0x5054_00ff_fefe_8802L);
    }

    @Test
    void guidOfLoopbackIsTheSameAsRxes() {
        try (SoftStack stack = SoftStack.create()) {
            Device device = stack.deviceOf(LOOPBACK).orElseThrow();
            assertThat(device.guid()).isEqualTo(0x0200_00ff_fe00_0000L);
            try (var context = device.open()) {
                assertThat(context.attributes().nodeGuid()).isEqualTo(device.guid());
                assertThat(context.attributes().systemImageGuid()).isEqualTo(device.guid());
            }
        }
    }

    @Test
    void aTunnelHasAGuidByItsNameAndAddress() {
        long guid = NodeGuid.of(tunnel("wg0", "192.0.2.1"));
        assertThat(guid).isEqualTo(NodeGuid.of(tunnel("wg0", "192.0.2.1")));
        assertThat(guid >>> 56).as("locally administered").isEqualTo(2);
        assertThat(guid)
                .isNotEqualTo(NodeGuid.of(tunnel("wg1", "192.0.2.1")))
                .isNotEqualTo(NodeGuid.of(tunnel("wg0", "192.0.2.2")));
        assertThat(NodeGuid.of(tunnel("wg0", "fd00::1", "192.0.2.1")))
                .as("whatever the order of the addresses")
                .isEqualTo(NodeGuid.of(tunnel("wg0", "192.0.2.1", "fd00::1")));
    }

    private static InterfaceView tunnel(String name, String... addresses) {
        List<InetAddress> list =
                Stream.of(addresses).map(InetAddress::ofLiteral).toList();
        return InterfaceView.ofVirtualHost(name, 7, list, true, 1420);
    }
}
