package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rtu;
import io.rdma4j.wire.cm.SidrReq;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/** Frames go directly to a known process of the same address, and to UDP port 4791 otherwise. */
class AddressSiblingsTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress ELSEWHERE = InetAddress.ofLiteral("127.0.0.2");
    private static final int FRAME_BYTES = 64;

    private final AddressSiblings siblings = new AddressSiblings(GidAddresses.high(HERE), GidAddresses.low(HERE));
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), 2 * SendBurst.MAX_FRAME_BYTES);

    private SendBurst burst(InetAddress to, int... queuePairs) {
        burst.clear();
        burst.destination(GidAddresses.high(to), GidAddresses.low(to), 0, 0);
        for (int number : queuePairs) {
            burst.buffer().putInt(burst.tail() + 4, number);
            burst.append(FRAME_BYTES);
        }
        return burst;
    }

    @Test
    void slotOfTheQueuePairNumberFindsThePort() {
        siblings.put(7, 1234);
        siblings.put(200, 50_000);
        assertThat(siblings.portOf(burst(HERE, 7 << 16 | 99, 7 << 16 | 3))).isEqualTo(1234);
        assertThat(siblings.portOf(burst(HERE, 200 << 16))).isEqualTo(50_000);
        assertThat(siblings.portOf(burst(HERE, 8 << 16))).isZero();
    }

    @Test
    void framesForSeveralProcessesGoToTheOwner() {
        siblings.put(7, 1234);
        siblings.put(8, 1235);
        assertThat(siblings.portOf(burst(HERE, 7 << 16, 8 << 16))).isZero();
    }

    private SendBurst burst(CmMessage message) {
        burst(HERE, 1).clear();
        burst.buffer().putInt(4, GsiPacket.QUEUE_PAIR);
        message.emit(burst.segment(), 20, 99);
        burst.append(20 + CmMad.LENGTH + 4);
        return burst;
    }

    @Test
    void responsesOfConnectionManagementTakeThePathOfTheData() {
        siblings.put(7, 1234);
        assertThat(siblings.portOf(burst(new Rtu(8 << 24, 7 << 24 | 5, PrivateData.EMPTY))))
                .isEqualTo(1234);
        assertThat(siblings.portOf(burst(new Rtu(7 << 24, 8 << 24 | 5, PrivateData.EMPTY))))
                .isZero();
    }

    @Test
    void requestsGoToTheOwner() {
        siblings.put(0, 1234);
        siblings.put(7, 1234);
        assertThat(siblings.portOf(burst(new SidrReq(7 << 24, 0xffff, 7, PrivateData.EMPTY))))
                .isZero();
        assertThat(siblings.portOf(burst(new Rej(7 << 24, 0, 0, 8, 0, PrivateData.EMPTY, PrivateData.EMPTY))))
                .isZero();
        assertThat(siblings.portOf(burst(HERE, GsiPacket.QUEUE_PAIR))).isZero(); // too short for a management datagram
    }

    @Test
    void otherAddressesAreNotAffected() {
        siblings.put(7, 1234);
        assertThat(siblings.portOf(burst(ELSEWHERE, 7 << 16))).isZero();
    }

    @Test
    void exitedProcessIsRemoved() {
        siblings.put(7, 1234);
        siblings.put(8, 1235);
        siblings.put(7, 0);
        assertThat(siblings.portOf(burst(HERE, 7 << 16))).isZero();
        assertThat(siblings.knows(7)).isFalse();
    }

    @Test
    void processesStayKnownWhenTheirOwnerHasEnded() {
        siblings.put(8, 1235);
        siblings.onOwnerEnded();
        assertThat(siblings.portOf(burst(HERE, 8 << 16))).isZero();
        assertThat(siblings.knows(8)).isTrue();
        assertThat(siblings.hasUnconfirmed()).isTrue();
        siblings.put(8, 0);
        assertThat(siblings.knows(8)).isFalse();
        assertThat(siblings.hasUnconfirmed()).isFalse();
    }

    @Test
    void burstIsSentToThePortAndUnchangedAfterwards() throws IOException {
        try (LinkSet links = new MemoryNetwork(9000).newLinkSet()) {
            Link owner = links.openUdp(HERE, Frame.UDP_PORT);
            Link sibling = links.openUdp(HERE, 0);
            Link link = new SiblingLink(links.openUdp(HERE, 0), siblings);
            siblings.put(7, sibling.localAddress().getPort());
            link.send(burst(HERE, 7 << 16));
            assertThat(burst.destinationPort()).isEqualTo(Frame.UDP_PORT);
            link.send(burst(HERE, 9 << 16));
            ReceiveBurst received = new ReceiveBurst(4);
            assertThat(sibling.poll(received)).isEqualTo(1);
            assertThat(received.frame(0).buffer.get(received.frame(0).offset + 5))
                    .isEqualTo((byte) 7);
            assertThat(owner.poll(received)).isEqualTo(1);
            assertThat(received.frame(0).buffer.get(received.frame(0).offset + 5))
                    .isEqualTo((byte) 9);
        }
    }
}
