package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Flow;
import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.sharing.Port;
import io.rdma4j.transport.QueuePairMachine;
import java.net.InetAddress;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A queue pair keeps the UDP source port of its path, even if it requested another one. */
class QueuePairFlowTest {
    private static final int NUMBER = 0x11;

    private final InetAddress address = InetAddress.ofLiteral("10.0.0.1");
    private int opened;

    @SuppressWarnings("NullAway.Init")
    private Port port;

    private final QueuePairFlow flow = new QueuePairFlow(NUMBER);

    /** Opens a port on a busy host: each flow gets a source port other than the requested one. */
    @BeforeEach
    void open() throws Exception {
        Link inner = new MemoryNetwork(1500).newLinkSet().openUdp(address, 4791);
        Link busy = new ForwardingLink(inner) {
            @Override
            public Flow openFlow(int sourcePort) {
                opened++;
                return Objects.requireNonNull(inner.openFlow(50_000 + opened));
            }
        };
        port = new Port(address) {
            @Override
            public Link link() {
                return busy;
            }

            @Override
            public int receive(long nowNanos, boolean all) {
                return 0;
            }

            @Override
            public int receiveStray(long nowNanos) {
                return 0;
            }

            @Override
            public long nextDeadlineNanos() {
                return Long.MAX_VALUE;
            }
        };
        flow.connect(path(0, 64), NUMBER, false);
        flow.choose(port, false);
    }

    private static QueuePairMachine.Peer path(int flowLabel, int hopLimit) {
        return new QueuePairMachine.Peer(0, 1, 0, 2, 0, 0x22, 0, hopLimit, flowLabel);
    }

    private int sourcePort() {
        if (!flow.isChosen()) {
            flow.choose(port, false);
        }
        return Objects.requireNonNull(flow.current(port)).sourcePort();
    }

    @Test
    void changeThatKeepsThePeerAndTheFlowLabelKeepsThePort() {
        assertThat(sourcePort()).isEqualTo(50_001);
        flow.connect(path(0, 9), NUMBER, true);
        assertThat(sourcePort()).isEqualTo(50_001);
    }

    @Test
    void anotherFlowLabelOrPeerHasAnotherPort() {
        flow.connect(path(0x12345, 64), NUMBER, true);
        assertThat(sourcePort()).isEqualTo(50_002);
        flow.connect(path(0x12345, 64), NUMBER, false);
        assertThat(sourcePort()).isEqualTo(50_003);
    }
}
