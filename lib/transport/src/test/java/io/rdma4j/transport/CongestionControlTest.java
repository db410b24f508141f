package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.Pair.WirePacket;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.CongestionNotification;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Marks are reported by notifications, at most one every 50 µs, and notifications of the peer reduce the rate. */
class CongestionControlTest {
    private static final int MESSAGE_BYTES = 16 * 1024;

    private static Pair pair(CongestionMarks marksOfA) {
        Pair.Options options = new Pair.Options();
        options.congestionMarksA = marksOfA;
        return new Pair(options);
    }

    private static void write(Pair pair) {
        MemoryRegion from = pair.a.register(MESSAGE_BYTES);
        MemoryRegion to = pair.b.register(MESSAGE_BYTES);
        pair.a.post(1, SendOpcode.RDMA_WRITE, from, MESSAGE_BYTES, to, 0);
        pair.run(Long.MAX_VALUE - 1);
        assertThat(pair.a.statuses(false)).containsOnly(CompletionStatus.SUCCESS);
    }

    private static List<WirePacket> notifications(Pair pair) {
        return pair.trace.stream()
                .filter(w -> w.opcode() == Opcode.CONGESTION_NOTIFICATION)
                .toList();
    }

    @Test
    void marksAreReportedToTheSenderWhichReducesItsRate() {
        Pair pair = pair(CongestionMarks.ON);
        pair.marks = w -> true;
        write(pair);
        assertThat(pair.b.queuePair.counters().congestionMarks).isEqualTo(16);
        assertThat(notifications(pair)).hasSize(1);
        assertThat(pair.b.queuePair.counters().sentCongestionNotifications).isEqualTo(1);
        assertThat(pair.a.queuePair.counters().receivedCongestionNotifications).isEqualTo(1);
        assertThat(pair.a.queuePair.congestion.rate().bytesPerSecond()).isLessThan(Long.MAX_VALUE);
        assertThat(pair.b.queuePair.congestion.rate().bytesPerSecond()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void notificationHasTheBytesOfTheSpecification() {
        Pair pair = pair(CongestionMarks.ON);
        pair.marks = w -> true;
        write(pair);
        WirePacket notification = notifications(pair).getFirst();
        assertThat(notification.fromA()).isFalse();
        assertThat(notification.bytes()).hasSize(CongestionNotification.LENGTH + Packet.ICRC_LENGTH);
        assertThat(Wire.u32(notification.segment(), 0)).isEqualTo(0x8100_ffff);
        assertThat(Wire.u32(notification.segment(), 4)).isEqualTo(0x4000_0000 | pair.a.queuePair.number());
        assertThat(Wire.u32(notification.segment(), 8)).isZero();
        for (int at = Bth.LENGTH; at < CongestionNotification.LENGTH; at += 4) {
            assertThat(Wire.u32(notification.segment(), at)).isZero();
        }
    }

    @Test
    void notificationsAreLimitedInTime() {
        Pair pair = pair(CongestionMarks.ON);
        pair.marks = w -> true;
        for (int i = 0; i < 10; i++) {
            write(pair);
            pair.now += CongestionControl.NOTIFICATION_INTERVAL_NANOS / 2;
        }
        List<WirePacket> notifications = notifications(pair);
        assertThat(notifications).hasSizeBetween(3, 10);
        for (int i = 1; i < notifications.size(); i++) {
            assertThat(notifications.get(i).sentAt() - notifications.get(i - 1).sentAt())
                    .isGreaterThanOrEqualTo(CongestionControl.NOTIFICATION_INTERVAL_NANOS);
        }
    }

    @Test
    void readResponsesAreHeldBackAndAcknowledgementsDoNotPassThem() {
        Pair pair = pair(CongestionMarks.ON);
        MemoryRegion to = pair.a.register(MESSAGE_BYTES);
        MemoryRegion from = pair.b.register(MESSAGE_BYTES);
        for (int i = 0; i < 4; i++) {
            pair.a.post(i, SendOpcode.RDMA_READ, to, MESSAGE_BYTES, from, 0);
            pair.a.post(10 + i, SendOpcode.RDMA_WRITE, to, 16, from, 0);
        }
        pair.marks = w -> w.opcode().isResponse();
        pair.run(Long.MAX_VALUE - 1);
        assertThat(pair.a.queuePair.counters().congestionMarks).isGreaterThan(16);
        assertThat(pair.b.queuePair.counters().receivedCongestionNotifications).isPositive();
        assertThat(pair.a.statuses(false)).hasSize(8).containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.a.queuePair.counters().retransmittedPackets).isZero();
    }

    @Test
    void acknowledgementsWithMarksAreNotReported() {
        Pair pair = pair(CongestionMarks.ON);
        pair.marks = w -> w.opcode() == Opcode.RC_ACKNOWLEDGE;
        write(pair);
        assertThat(pair.a.queuePair.counters().congestionMarks).isZero();
        assertThat(notifications(pair)).isEmpty();
    }

    @Test
    void aPeerLearnsThatMarksAreReportedFromThePacketsItReceives() {
        Pair pair = pair(CongestionMarks.ON);
        assertThat(pair.b.queuePair.isCongestionCapable()).isFalse();
        write(pair);
        assertThat(pair.b.queuePair.isCongestionCapable()).isTrue();
    }

    @Test
    void neitherSideStartsByDefault() {
        Pair pair = pair(CongestionMarks.LEARN);
        write(pair);
        assertThat(pair.a.queuePair.isCongestionCapable()).isFalse();
        assertThat(pair.b.queuePair.isCongestionCapable()).isFalse();
    }

    @Test
    void notificationFromAnotherAddressIsDropped() {
        Pair pair = pair(CongestionMarks.ON);
        pair.marks = w -> true;
        write(pair);
        WirePacket notification = notifications(pair).getFirst();
        Pair other = new Pair();
        write(other);
        other.deliver(
                new WirePacket(true, 1, notification.opcode(), 0, false, notification.bytes(), other.now),
                other.a.queuePair);
        assertThat(other.a.queuePair.counters().badSource).isEqualTo(1);
        assertThat(other.a.queuePair.counters().receivedCongestionNotifications).isZero();
    }

    @Test
    void marksOfPacketsOutOfSequenceAreNotReported() {
        Pair pair = pair(CongestionMarks.ON);
        pair.marks = w -> true;
        for (int distance : new int[] {1, 500, 1 << 20, -1, -500}) {
            pair.deliver(Pair.forge(true, Opcode.RC_SEND_ONLY, pair.options.psnA + distance, true, 16));
        }
        pair.pump();
        assertThat(pair.b.queuePair.counters().congestionMarks).isZero();
        assertThat(notifications(pair)).isEmpty();
        assertThat(pair.b.queuePair.isCongestionCapable()).isFalse();
    }

    /** Delivers a forged notification, for which the attacker needs only the addresses and ports. */
    private static void forgeNotification(Pair pair) {
        byte[] bytes = new byte[CongestionNotification.LENGTH + Packet.ICRC_LENGTH];
        CongestionNotification.write(MemorySegment.ofArray(bytes), 0, 0xffff, pair.a.queuePair.number());
        pair.deliver(new WirePacket(false, 1, Opcode.CONGESTION_NOTIFICATION, 0, false, bytes, pair.now));
    }

    private static boolean isSlowed(Pair pair) {
        return pair.a.queuePair.congestion.rate().bytesPerSecond() < Long.MAX_VALUE;
    }

    @Test
    void notificationThatCannotBeTrueIsNotObeyed() {
        Pair unmarked = pair(CongestionMarks.LEARN); // routers do not mark its packets
        write(unmarked);
        forgeNotification(unmarked);
        assertThat(isSlowed(unmarked)).isFalse();
        assertThat(unmarked.a.queuePair.isCongestionCapable()).isFalse();
        Pair silent = pair(CongestionMarks.ON);
        forgeNotification(silent);
        assertThat(isSlowed(silent)).isFalse();
        Pair idle = pair(CongestionMarks.ON);
        write(idle);
        idle.now += 50_000_000;
        forgeNotification(idle);
        assertThat(isSlowed(idle)).isFalse();
        assertThat(idle.a.queuePair.counters().droppedPackets).isEqualTo(1);
        write(idle);
        forgeNotification(idle);
        assertThat(isSlowed(idle)).isTrue();
    }

    @Test
    void forgedNotificationsCannotReduceTheRateBelowTheLowest() {
        Pair pair = pair(CongestionMarks.ON);
        for (int i = 0; i < 200; i++) {
            write(pair);
            forgeNotification(pair);
        }
        assertThat(pair.a.queuePair.congestion.rate().bytesPerSecond())
                .isGreaterThanOrEqualTo(SendRate.MIN_BYTES_PER_SECOND);
    }

    /** A packet of 1 KiB takes longer than the acknowledgement timeout of 67 ms. */
    @Test
    void packetsThatWaitForTheirRateUseNoRetries() {
        Pair pair = pair(CongestionMarks.LEARN);
        pair.a.queuePair.rateLimit(10_000);
        write(pair);
        assertThat(pair.a.queuePair.counters().timeouts).isZero();
        assertThat(pair.a.queuePair.counters().retransmittedPackets).isZero();
    }

    @Test
    void unreliableConnectionNeedsNoTimerOnceItHasFailed() {
        UcPair pair = heldBack();
        pair.a.queuePair.toError();
        assertThat(pair.a.sent()).isEmpty();
        assertThat(pair.a.queuePair.nextDeadlineNanos()).isEqualTo(QueuePairMachine.NEVER);
    }

    @Test
    void unreliableConnectionNeedsNoTimerOnceItIsDrained() {
        UcPair pair = heldBack();
        pair.a.queuePair.drain(false);
        assertThat(pair.a.sent()).isEmpty();
        assertThat(pair.a.queuePair.nextDeadlineNanos()).isEqualTo(QueuePairMachine.NEVER);
    }

    /** Returns an unreliable connection whose second message waits for its rate. */
    private static UcPair heldBack() {
        UcPair pair = new UcPair();
        MemoryRegion region = pair.a.register(new byte[UcPair.MTU], AccessFlag.LOCAL_WRITE.bit());
        pair.a.queuePair.rateLimit(10_000);
        pair.a.post(1, SendOpcode.SEND, region, UcPair.MTU, region);
        pair.a.post(2, SendOpcode.SEND, region, UcPair.MTU, region);
        assertThat(pair.a.sent()).hasSize(1);
        assertThat(pair.a.queuePair.nextDeadlineNanos()).isLessThan(QueuePairMachine.NEVER);
        return pair;
    }

    @Test
    void resetEndsTheLimit() {
        Pair pair = pair(CongestionMarks.ON);
        pair.marks = w -> true;
        write(pair);
        pair.a.queuePair.reset();
        assertThat(pair.a.queuePair.nextDeadlineNanos()).isEqualTo(QueuePairMachine.NEVER);
    }
}
