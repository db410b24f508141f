package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ServiceId;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlowLabelTest {
    @ParameterizedTest
    @ValueSource(strings = {"rping", "rping6", "ucmatose", "rstream", "all", "rnr", "badlen"})
    void connectionsUseTheSourcePortsOfLinux(String file) {
        Packet packet = new Packet();
        Set<Integer> expected = new HashSet<>();
        Set<Integer> seen = new HashSet<>();
        for (Captures.Captured captured : Captures.frames(file)) {
            assertThat(packet.parse(captured.frame())).isEqualTo(Packet.Result.OK);
            if (!GsiPacket.isGsi(packet)) {
                seen.add(captured.frame().sourcePort);
                continue;
            }
            assertThat(captured.frame().sourcePort).isEqualTo(FlowLabel.datagramSourcePort(1));
            if (CmMessage.parse(packet.segment(), packet.payloadOffset(), packet.payloadLength()) instanceof Req req) {
                IpCmHeader header = Objects.requireNonNull(IpCmHeader.parse(req.privateData()));
                int label = FlowLabel.ofPorts(header.sourcePort(), ServiceId.port(req.serviceId()));
                assertThat(req.primaryPath().flowLabel()).isEqualTo(label);
                expected.add(FlowLabel.sourcePort(label));
            }
        }
        assertThat(seen).isNotEmpty().isEqualTo(expected);
    }

    @Test
    void aConnectionWithoutLabelDerivesOneFromItsQueuePairNumbers() {
        // Capture uc: queue pairs 0x12 on both sides, no flow label.
        int label = FlowLabel.ofQueuePairs(0x12, 0x12);
        assertThat(FlowLabel.sourcePort(label)).isEqualTo(0xc144);
        Captures.frames("uc").stream()
                .filter(c -> Objects.requireNonNull(Opcode.of(c.bytes()[0])).transport() == Opcode.Transport.UC)
                .forEach(c -> assertThat(c.frame().sourcePort).as("%s", c).isEqualTo(0xc144));
    }

    @Test
    void theSourcePortOfDatagramsDependsOnTheQueuePair() {
        assertThat(FlowLabel.datagramSourcePort(1)).isEqualTo(55410);
        assertThat(Captures.frame("mckey", 7).frame().sourcePort).isEqualTo(FlowLabel.datagramSourcePort(0x16));
    }

    @Test
    void labelsHave20BitsAndPortsAreInRange() {
        for (int value = 1; value != 0; value <<= 1) {
            assertThat(FlowLabel.ofPorts(value, -1)).isBetween(0, FlowLabel.MASK);
            assertThat(FlowLabel.ofQueuePairs(value, -1)).isBetween(0, FlowLabel.MASK);
            assertThat(FlowLabel.sourcePort(value)).isBetween(0xc000, 0xffff);
            assertThat(FlowLabel.datagramSourcePort(value)).isBetween(0xc000, 0xffff);
        }
        assertThat(FlowLabel.sourcePort(FlowLabel.MASK)).isEqualTo(0xc000 | 0x3fff ^ 0x3f);
    }
}
