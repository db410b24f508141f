package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Psn;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Handling of packets from the peer's address but from another UDP port than before. */
class RcSourcePortTest extends ResponderFixture {
    private static final int PEERS_PORT = 50_000;
    private static final int OTHER_PORT = 50_001;

    private void check(SourcePortCheck check) {
        pair.a.queuePair.checkSourcePort(check);
        pair.b.queuePair.checkSourcePort(check);
        pair.a.udpPort = PEERS_PORT;
    }

    private boolean isWriteAccepted(int psn, int port) {
        pair.a.udpPort = port;
        long processed = pair.b.queuePair.counters().processedPackets;
        pair.deliver(packet(Opcode.RC_WRITE_ONLY, psn, 4, 4));
        return pair.b.queuePair.counters().processedPackets > processed;
    }

    @Test
    void otherwiseValidPacketFromAnotherPortIsDropped() {
        check(SourcePortCheck.ENFORCE);
        assertThat(isWriteAccepted(PSN, PEERS_PORT)).isTrue();
        for (int i = 0; i < 1000; i++) {
            assertThat(isWriteAccepted(PSN + 1, OTHER_PORT)).isFalse();
        }
        assertThat(pair.b.queuePair.counters().badSourcePort).isEqualTo(1000);
        assertThat(isWriteAccepted(PSN + 1, PEERS_PORT)).isTrue();
    }

    @Test
    void portIsNotLearnedFromAPacketOutOfSequence() {
        check(SourcePortCheck.ENFORCE);
        for (int off : new int[] {1, 2, 1000, -1, -1000, Psn.MASK >> 1}) {
            boolean _ = isWriteAccepted(PSN + off, OTHER_PORT);
        }
        assertThat(isWriteAccepted(PSN, PEERS_PORT)).isTrue();
        assertThat(isWriteAccepted(PSN + 1, OTHER_PORT)).isFalse();
    }

    @Test
    void portIsNotLearnedFromARejectedPacket() {
        check(SourcePortCheck.ENFORCE);
        boolean _ = isWriteAccepted(PSN, OTHER_PORT); // learns the port; the next line discards it
        pair.b.queuePair.checkSourcePort(SourcePortCheck.ENFORCE);
        pair.a.udpPort = OTHER_PORT;
        pair.deliver(packet(Opcode.RC_SEND_ONLY, PSN + 1, 4, 4));
        assertThat(pair.b.queuePair.counters().sentRnrNaks).isEqualTo(1);
        assertThat(isWriteAccepted(PSN + 1, PEERS_PORT)).isTrue();
        assertThat(isWriteAccepted(PSN + 2, OTHER_PORT)).isFalse();
    }

    @Test
    void forgedAcknowledgementFromAnotherPortCompletesNothing() {
        check(SourcePortCheck.ENFORCE);
        MemoryRegion local = pair.a.register(16);
        pair.a.post(1, SendOpcode.RDMA_WRITE, local, 4, remote, 0);
        pair.run();
        assertThat(pair.a.done).hasSize(1);
        pair.wire = w -> List.of();
        pair.a.post(2, SendOpcode.RDMA_WRITE, local, 4, remote, 0);
        pair.pump(pair.a);
        pair.b.udpPort = OTHER_PORT;
        Pair.WirePacket acknowledgement = Pair.forge(false, Opcode.RC_ACKNOWLEDGE, pair.options.psnA + 1, false, 0);
        Aeth.write(acknowledgement.segment(), Bth.LENGTH, Aeth.ACK | 0x1f, 2);
        pair.deliver(acknowledgement);
        assertThat(pair.a.done).hasSize(1);
        assertThat(pair.a.queuePair.counters().badSourcePort).isEqualTo(1);
        pair.b.udpPort = 49_153;
        pair.deliver(acknowledgement);
        assertThat(pair.a.done).hasSize(2);
    }

    @Test
    void changedPortIsCountedAndAcceptedInCountMode() {
        check(SourcePortCheck.COUNT);
        assertThat(isWriteAccepted(PSN, PEERS_PORT)).isTrue();
        assertThat(isWriteAccepted(PSN + 1, OTHER_PORT)).isTrue();
        assertThat(isWriteAccepted(PSN + 2, OTHER_PORT)).isTrue();
        assertThat(isWriteAccepted(PSN + 3, PEERS_PORT)).isTrue();
        assertThat(pair.b.queuePair.counters().changedSourcePort).isEqualTo(2);
        assertThat(pair.b.queuePair.counters().badSourcePort).isZero();
    }

    @Test
    void anyPortIsAcceptedUncountedWhenTheCheckIsOff() {
        check(SourcePortCheck.OFF);
        assertThat(isWriteAccepted(PSN, PEERS_PORT)).isTrue();
        assertThat(isWriteAccepted(PSN + 1, OTHER_PORT)).isTrue();
        assertThat(pair.b.queuePair.counters().changedSourcePort).isZero();
    }

    @Test
    void portIsLearnedAgainAfterAReset() {
        check(SourcePortCheck.ENFORCE);
        assertThat(isWriteAccepted(PSN, PEERS_PORT)).isTrue();
        RcQueuePair.ReceiveParameters before = Objects.requireNonNull(pair.b.queuePair.receiveParameters());
        pair.b.queuePair.reset();
        pair.b.queuePair.toInit(Pair.ALL_ACCESS);
        pair.b.queuePair.toReadyToReceive(before);
        assertThat(isWriteAccepted(PSN, OTHER_PORT)).isTrue();
        assertThat(isWriteAccepted(PSN + 1, PEERS_PORT)).isFalse();
    }

    @Test
    void manyGuessesWithinASecondAreReportedOnce() {
        check(SourcePortCheck.ENFORCE);
        assertThat(isWriteAccepted(PSN, PEERS_PORT)).isTrue();
        for (int i = 0; i < 3 * PeerCheck.ALARM_PACKETS; i++) {
            boolean _ = i % 2 == 0
                    ? isWriteAccepted(PSN + 1, OTHER_PORT)
                    : isWriteAccepted(PSN + (1 << 20) + i, PEERS_PORT);
        }
        assertThat(pair.b.events).containsExactly(QueuePairEvent.SPOOFING_SUSPECTED);
        pair.now += 1_000_000_000;
        for (int i = 0; i < PeerCheck.ALARM_PACKETS - 1; i++) {
            assertThat(isWriteAccepted(PSN + 1, OTHER_PORT)).isFalse();
        }
        assertThat(pair.b.events).hasSize(1);
        assertThat(isWriteAccepted(PSN + 1, OTHER_PORT)).isFalse();
        assertThat(pair.b.events).hasSize(2);
        assertThat(pair.b.queuePair.counters().spoofingAlarms).isEqualTo(2);
        assertThat(pair.b.queuePair.counters().outOfWindowPsns).isEqualTo(3 * PeerCheck.ALARM_PACKETS / 2);
    }

    @Test
    void lossAndRetransmissionDoNotCountAsGuesses() {
        check(SourcePortCheck.ENFORCE);
        assertThat(isWriteAccepted(PSN, PEERS_PORT)).isTrue();
        for (int i = 0; i < 3 * PeerCheck.ALARM_PACKETS; i++) {
            boolean _ = isWriteAccepted(PSN + 2 + i % 5000, PEERS_PORT);
            boolean _ = isWriteAccepted(PSN - i % 5000, PEERS_PORT);
        }
        assertThat(pair.b.events).isEmpty();
    }
}
