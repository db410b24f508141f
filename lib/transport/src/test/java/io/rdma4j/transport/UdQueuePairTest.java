package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Datagrams: one packet each, to any queue pair with the queue key, without a response. */
class UdQueuePairTest {
    private static final int ROUTE = UdQueuePair.ROUTE_HEADER_BYTES;

    private final UdSide a = UdSide.ipv4(0x11).ready(0xff_ffff);
    private final UdSide b = UdSide.ipv4(0x22).ready(5);
    private final byte[] source = Pair.pattern(UdSide.MTU + 1, 1);
    private final byte[] target = new byte[UdSide.MTU + ROUTE];
    private final MemoryRegion local = a.register(source, 0);
    private final MemoryRegion remote = b.register(target, AccessFlag.LOCAL_WRITE.bit());

    private byte[] packet(long id, int length) {
        a.claim(id, local, length, 0x22);
        a.post();
        return a.onlySent();
    }

    private UdSide.Done received() {
        assertThat(b.done).hasSize(1);
        return b.done.getFirst();
    }

    private byte[] payload(int length) {
        return Arrays.copyOfRange(target, ROUTE, ROUTE + length);
    }

    /** Asserts that a datagram was dropped and that the posted receive is left for the next one. */
    private void assertDroppedAndTheReceiveStays() {
        assertThat(b.done).isEmpty();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(target).containsOnly(0);
        b.receive(a, packet(99, 8));
        assertThat(received().bytes()).isEqualTo(ROUTE + 8);
    }

    @Test
    void datagramCarriesTheSourceQueuePairAndTheQueueKey() {
        byte[] packet = packet(1, 7);
        MemorySegment s = MemorySegment.ofArray(packet);
        assertThat(packet).hasSize(Bth.LENGTH + Deth.LENGTH + 8);
        assertThat(Bth.destinationQueuePair(s, 0)).isEqualTo(0x22);
        assertThat(Bth.padCount(s, 0)).isEqualTo(1);
        assertThat(Bth.psn(s, 0)).isEqualTo(0xff_ffff);
        assertThat(Bth.acknowledgeRequest(s, 0)).isFalse();
        assertThat(Deth.parse(s, Bth.LENGTH)).isEqualTo(new Deth(UdSide.KEY, 0x11));
        assertThat(Bth.psn(MemorySegment.ofArray(packet(2, 7)), 0)).isZero();
    }

    @Test
    void sendCompletesAndItsDestinationIsKnownWhenItsPacketIsWritten() {
        packet(1, 7);
        assertThat(a.done)
                .containsExactly(new UdSide.Done(1, CompletionStatus.SUCCESS, false, 7, false, 0, 0, false, false));
        assertThat(a.queuePair.destination()).isEqualTo(new UdSide.NamedDestination("there"));
        assertThat(a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void receiveHoldsTheRouteHeaderAndThenTheMessage() {
        b.postReceive(9, remote, target.length);
        b.receive(a, packet(1, UdSide.MTU));
        assertThat(received())
                .isEqualTo(new UdSide.Done(
                        9, CompletionStatus.SUCCESS, true, ROUTE + UdSide.MTU, false, 0, 0x11, true, false));
        assertThat(payload(UdSide.MTU)).isEqualTo(Arrays.copyOf(source, UdSide.MTU));
        assertThat(b.sent()).isEmpty();
        assertThat(b.queuePair.counters().processedPackets).isEqualTo(1);
    }

    @Test
    void routeHeaderOfIpv4IsTwentyZerosAndTheHeaderFromTheWire() {
        Arrays.fill(target, (byte) 0xee);
        b.postReceive(9, remote, target.length);
        b.receive(a, packet(1, 6));
        // IPv4 20 + UDP 8 + BTH 12 + DETH 8 + payload 8 + ICRC 4 = 60 bytes. UdSide sets identification, class and TTL.
        ByteBuffer header = ByteBuffer.wrap(HexFormat.of().parseHex("4568003c471140003f1100000a5800110a580022"));
        int sum = 0;
        for (int i = 0; i < 20; i += 2) {
            sum += header.getShort(i) & 0xffff;
        }
        header.putShort(10, (short) ~(sum + (sum >>> 16)));
        assertThat(Arrays.copyOf(target, 20)).containsOnly(0);
        assertThat(Arrays.copyOfRange(target, 20, ROUTE)).isEqualTo(header.array());
    }

    @Test
    void routeHeaderOfIpv6IsTheIpHeader() {
        UdSide from = new UdSide(0x11, 0xfd00_0088_0000_0000L, 1).ready(0);
        UdSide to = new UdSide(0x22, 0xfd00_0088_0000_0000L, 2).ready(0);
        Arrays.fill(target, (byte) 0xee);
        to.postReceive(9, to.register(target, AccessFlag.LOCAL_WRITE.bit()), target.length);
        to.receive(from, packet(1, 6));
        assertThat(HexFormat.of().formatHex(target, 0, ROUTE))
                .isEqualTo("6680000000" + "28113f" + "fd000088000000000000000000000001"
                        + "fd000088000000000000000000000002");
        assertThat(payload(6)).isEqualTo(Arrays.copyOf(source, 6));
    }

    @Test
    void routeHeaderAndMessageAreScatteredOverElementsOfAnySize() {
        b.postReceive(9, remote, 13, 30, 0, 500);
        b.receive(a, packet(1, 100));
        assertThat(received().bytes()).isEqualTo(ROUTE + 100);
        assertThat(payload(100)).isEqualTo(Arrays.copyOf(source, 100));
        assertThat(target[20]).isEqualTo((byte) 0x45);
    }

    @Test
    void emptyDatagramNeedsRoomForTheRouteHeaderOnly() {
        b.postReceive(9, remote, ROUTE);
        b.receive(a, packet(1, 0));
        assertThat(received().bytes()).isEqualTo(ROUTE);
    }

    @Test
    void immediateDataAndSolicitedBitArrive() {
        b.postReceive(9, remote, target.length);
        SendRequest r = a.claim(1, local, 10, 0x22);
        r.opcode = SendOpcode.SEND_WITH_IMMEDIATE;
        r.immediate = 0xcafe_0001;
        r.solicited = true;
        a.post();
        b.receive(a, a.onlySent());
        assertThat(received())
                .isEqualTo(new UdSide.Done(
                        9, CompletionStatus.SUCCESS, true, ROUTE + 10, true, 0xcafe_0001, 0x11, true, true));
        assertThat(payload(10)).isEqualTo(Arrays.copyOf(source, 10));
    }

    @Test
    void inlineMessageIsSentFromItsCopy() {
        b.postReceive(9, remote, target.length);
        SendRequest r = a.claim(1, local, 0, 0x22);
        r.list.clear();
        r.inline = true;
        r.lengthBytes = 3;
        MemorySegment.copy(MemorySegment.ofArray(new byte[] {7, 8, 9}), 0, r.inlineData, 0, 3);
        a.post();
        b.receive(a, a.onlySent());
        assertThat(payload(3)).containsExactly(7, 8, 9);
    }

    @Test
    void datagramWithAWrongQueueKeyIsDroppedAndCounted() {
        b.postReceive(9, remote, target.length);
        a.claim(1, local, 10, 0x22).queueKey = UdSide.KEY + 1;
        a.post();
        b.receive(a, a.onlySent());
        assertThat(b.queuePair.counters().badQueueKey).isEqualTo(1);
        assertThat(b.queuePair.counters().droppedPackets).isEqualTo(1);
        assertDroppedAndTheReceiveStays();
    }

    @Test
    void queueKeyWithItsHighestBitSetIsReplacedByTheSendersOwn() {
        b.postReceive(9, remote, target.length);
        a.claim(1, local, 10, 0x22).queueKey = 0x8000_0001;
        a.post();
        byte[] packet = a.onlySent();
        assertThat(Deth.queueKey(MemorySegment.ofArray(packet), Bth.LENGTH)).isEqualTo(UdSide.KEY);
        b.receive(a, packet);
        assertThat(received().status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void changedQueueKeyAppliesFromTheNextPacket() {
        b.postReceive(9, remote, target.length);
        b.queuePair.changeQueueKey(3);
        b.receive(a, packet(1, 10));
        assertThat(b.done).isEmpty();
        b.queuePair.changeQueueKey(UdSide.KEY);
        b.receive(a, packet(2, 11));
        assertThat(received().bytes()).isEqualTo(ROUTE + 11);
    }

    @Test
    void datagramWithoutAReceiveIsDropped() {
        b.receive(a, packet(1, 10));
        assertThat(b.queuePair.counters().droppedMessages).isEqualTo(1);
        b.postReceive(9, remote, target.length);
        assertDroppedAndTheReceiveStays();
    }

    @Test
    void datagramTooLongForTheReceiveIsDropped() {
        b.postReceive(9, remote, ROUTE + 9);
        b.receive(a, packet(1, 10));
        assertThat(b.queuePair.counters().droppedMessages).isEqualTo(1);
        assertDroppedAndTheReceiveStays();
    }

    @Test
    void datagramWithMissingPaddingIsDropped() {
        b.postReceive(9, remote, target.length);
        byte[] packet = packet(1, 7); // one byte of padding
        packet[1] = 0;
        byte[] short7 = Arrays.copyOf(packet, packet.length - 1);
        b.receive(a, short7);
        assertDroppedAndTheReceiveStays();
    }

    @Test
    void datagramBeforeReadyToReceiveOrAfterAnErrorIsDropped() {
        byte[] packet = packet(1, 10);
        UdSide fresh = UdSide.ipv4(0x33);
        fresh.queuePair.toInit(0);
        fresh.queuePair.changeQueueKey(UdSide.KEY);
        fresh.receive(a, packet);
        assertThat(fresh.queuePair.counters().badState).isEqualTo(1);
        b.queuePair.toError();
        b.receive(a, packet);
        assertThat(b.queuePair.counters().badState).isEqualTo(1);
    }

    @Test
    void receivesBeforeItCanSend() {
        UdSide fresh = UdSide.ipv4(0x33);
        fresh.queuePair.toInit(0);
        fresh.queuePair.changeQueueKey(UdSide.KEY);
        fresh.queuePair.toReadyToReceive(UdSide.MTU);
        fresh.postReceive(9, fresh.register(target, AccessFlag.LOCAL_WRITE.bit()), target.length);
        fresh.receive(a, packet(1, 10));
        assertThat(fresh.done).extracting(UdSide.Done::status).containsExactly(CompletionStatus.SUCCESS);
    }

    @Test
    void limitedPartitionMembersMaySendAndOtherPartitionsMayNot() {
        b.postReceive(9, remote, target.length);
        byte[] packet = packet(1, 10);
        packet[2] = (byte) 0x80;
        packet[3] = 1;
        b.receive(a, packet);
        assertThat(b.queuePair.counters().badPartitionKey).isEqualTo(1);
        packet[2] = 0x7f;
        packet[3] = (byte) 0xff;
        b.receive(a, packet);
        assertThat(received().status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void packetOfAConnectionIsDropped() {
        byte[] packet = packet(1, 10);
        packet[0] = 0x04;
        b.postReceive(9, remote, target.length);
        b.receive(a, packet);
        assertThat(b.queuePair.counters().badOpcode).isEqualTo(1);
        assertDroppedAndTheReceiveStays();
    }

    @Test
    void datagramLongerThanTheMtuIsNotSent() {
        a.claim(1, local, UdSide.MTU + 1, 0x22);
        a.post();
        assertThat(a.sent()).isEmpty();
        assertThat(a.done).extracting(UdSide.Done::status).containsExactly(CompletionStatus.LOCAL_LENGTH_ERROR);
    }

    @Test
    void onlySendsWithADestinationAreSent() {
        for (SendOpcode opcode : List.of(SendOpcode.RDMA_WRITE, SendOpcode.RDMA_READ, SendOpcode.FETCH_AND_ADD)) {
            UdSide side = UdSide.ipv4(0x44).ready(0);
            side.claim(1, side.register(source, Pair.ALL_ACCESS), 8, 0x22).opcode = opcode;
            side.post();
            assertThat(side.sent()).isEmpty();
            assertThat(side.done)
                    .extracting(UdSide.Done::status)
                    .containsExactly(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        }
        a.claim(1, local, 8, 0x22).destination = null;
        a.post();
        assertThat(a.sent()).isEmpty();
        assertThat(a.done)
                .extracting(UdSide.Done::status)
                .containsExactly(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
    }

    @Test
    void deregisteredMemoryFailsTheSendAndTheReceive() {
        byte[] before = packet(1, 8);
        a.claim(2, local, 8, 0x22);
        a.memory.deregister(local);
        a.post();
        assertThat(a.sent()).isEmpty();
        assertThat(a.done.getLast().status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        b.postReceive(9, remote, target.length);
        b.memory.deregister(remote);
        b.receive(a, before);
        assertThat(received().status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void parametersOutOfRangeLeaveTheStateUnchanged() {
        UdSide side = UdSide.ipv4(0x44);
        side.queuePair.toInit(0);
        assertThatThrownBy(() -> side.queuePair.toReadyToReceive(1000)).isInstanceOf(IllegalArgumentException.class);
        assertThat(side.queuePair.state()).isEqualTo(QueuePairState.INIT);
        side.queuePair.toReadyToReceive(256);
        assertThatThrownBy(() -> side.queuePair.toReadyToSend(1 << 24)).isInstanceOf(IllegalArgumentException.class);
        assertThat(side.queuePair.state()).isEqualTo(QueuePairState.READY_TO_RECEIVE);
    }

    @Test
    void resetDiscardsRequestsAndTheQueueKey() {
        a.claim(1, local, 8, 0x22);
        a.post();
        a.queuePair.reset();
        assertThat(a.sent()).isEmpty();
        assertThat(a.done).isEmpty();
        assertThat(a.queuePair.queueKey()).isZero();
        assertThat(a.ready(7).queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }
}
