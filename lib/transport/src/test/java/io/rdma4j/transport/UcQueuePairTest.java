package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Unreliable connections deliver whole messages or none, and send no responses. */
class UcQueuePairTest {
    private static final int BYTES = 3 * UcPair.MTU - 5;

    private final UcPair pair = new UcPair();
    private final byte[] source = Pair.pattern(BYTES, 1);
    private final byte[] target = new byte[BYTES];
    private final MemoryRegion local = pair.a.register(source, Pair.ALL_ACCESS);
    private final MemoryRegion remote = pair.b.register(target, Pair.ALL_ACCESS);

    private List<byte[]> packets(long id, SendOpcode opcode, long length) {
        pair.a.post(id, opcode, local, length, remote);
        return pair.a.sent();
    }

    private Pair.Done onlyReceive() {
        assertThat(pair.b.done).hasSize(1);
        return pair.b.done.getFirst();
    }

    private void assertNoResponse() {
        assertThat(pair.b.sent()).isEmpty();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(pair.b.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void sendIsSegmentedByTheMtuAndCompletesWithItsLastPacket() {
        pair.b.postReceive(9, remote, BYTES);
        List<byte[]> packets = packets(1, SendOpcode.SEND, BYTES);
        assertThat(packets.stream().map(UcPair::opcode))
                .containsExactly(Opcode.UC_SEND_FIRST, Opcode.UC_SEND_MIDDLE, Opcode.UC_SEND_LAST);
        assertThat(packets.stream().map(p -> Bth.psn(MemorySegment.ofArray(p), 0)))
                .containsExactly(0xff_fffe, 0xff_ffff, 0);
        assertThat(packets).noneMatch(p -> Bth.acknowledgeRequest(MemorySegment.ofArray(p), 0));
        assertThat(pair.a.done).extracting(Pair.Done::status).containsExactly(CompletionStatus.SUCCESS);
        pair.deliver(packets);
        assertThat(onlyReceive().bytes()).isEqualTo(BYTES);
        assertThat(target).isEqualTo(source);
        assertNoResponse();
    }

    @Test
    void immediateDataArriveWithTheLastPacketOfASend() {
        pair.b.postReceive(9, remote, BYTES);
        pair.deliver(packets(0x1234, SendOpcode.SEND_WITH_IMMEDIATE, BYTES));
        assertThat(onlyReceive().hasImmediate()).isTrue();
        assertThat(onlyReceive().immediate()).isEqualTo(0x1234);
    }

    @Test
    void writeNeedsNoReceive() {
        pair.deliver(packets(1, SendOpcode.RDMA_WRITE, BYTES));
        assertThat(target).isEqualTo(source);
        assertThat(pair.b.done).isEmpty();
        assertNoResponse();
    }

    @Test
    void writeWithImmediateTakesAReceiveAndReportsItsLength() {
        pair.b.postReceive(9, remote, 0);
        pair.deliver(packets(7, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, BYTES));
        assertThat(target).isEqualTo(source);
        assertThat(onlyReceive().ofWrite()).isTrue();
        assertThat(onlyReceive().bytes()).isEqualTo(BYTES);
        assertThat(onlyReceive().immediate()).isEqualTo(7);
    }

    @Test
    void emptyMessageIsOnePacket() {
        pair.b.postReceive(9, remote, BYTES);
        List<byte[]> packets = packets(1, SendOpcode.SEND, 0);
        assertThat(packets).hasSize(1);
        pair.deliver(packets);
        assertThat(onlyReceive().bytes()).isZero();
    }

    @Test
    void lossOfAnyPacketDropsItsMessageOnlyAndKeepsTheReceive() {
        for (int lost = 0; lost < 3; lost++) {
            pair.b.done.clear();
            pair.b.postReceive(10 + lost, remote, BYTES);
            List<byte[]> first = packets(1, SendOpcode.SEND, BYTES);
            for (int i = 0; i < 3; i++) {
                if (i != lost) {
                    pair.deliver(List.of(first.get(i)));
                }
            }
            assertThat(pair.b.done).as("packet %s lost", lost).isEmpty();
            pair.deliver(packets(2, SendOpcode.SEND, BYTES - 9));
            assertThat(onlyReceive().id()).isEqualTo(10 + lost);
            assertThat(onlyReceive().bytes()).isEqualTo(BYTES - 9);
            assertThat(target).startsWith(java.util.Arrays.copyOf(source, BYTES - 9));
        }
        // The message without its first packet is not counted.
        assertThat(pair.b.queuePair.counters().droppedMessages).isEqualTo(2);
        assertNoResponse();
    }

    @Test
    void reorderedPacketsDropTheMessage() {
        pair.b.postReceive(9, remote, BYTES);
        List<byte[]> p = packets(1, SendOpcode.SEND, BYTES);
        pair.deliver(List.of(p.get(0), p.get(2), p.get(1)));
        assertThat(pair.b.done).isEmpty();
        assertThat(pair.b.queuePair.counters().droppedMessages).isEqualTo(1);
    }

    @Test
    void middlePacketOfAnotherOperationDropsTheMessage() {
        pair.b.postReceive(9, remote, BYTES);
        List<byte[]> send = packets(1, SendOpcode.SEND, BYTES);
        send.get(1)[0] = (byte) Opcode.UC_WRITE_MIDDLE.code();
        pair.deliver(send);
        assertThat(pair.b.done).isEmpty();
        assertThat(target).endsWith(new byte[BYTES - UcPair.MTU]);
    }

    @Test
    void messageWithoutAReceiveIsDroppedAndTheNextIsAccepted() {
        pair.deliver(packets(1, SendOpcode.SEND, BYTES));
        pair.deliver(packets(2, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, 8));
        assertThat(pair.b.queuePair.counters().droppedMessages).isEqualTo(2);
        pair.b.postReceive(9, remote, BYTES);
        pair.deliver(packets(3, SendOpcode.SEND, BYTES));
        assertThat(onlyReceive().bytes()).isEqualTo(BYTES);
    }

    @Test
    void messageLongerThanTheReceiveIsDroppedAndTheReceiveKept() {
        pair.b.postReceive(9, remote, UcPair.MTU);
        pair.deliver(packets(1, SendOpcode.SEND, BYTES));
        assertThat(pair.b.done).isEmpty();
        pair.deliver(packets(2, SendOpcode.SEND, 10));
        assertThat(onlyReceive().bytes()).isEqualTo(10);
    }

    @Test
    void writeWithoutAccessRightOrWithAnInvalidKeyIsDroppedSilently() {
        pair.b.queuePair.changeAccess(AccessFlag.LOCAL_WRITE.bit());
        pair.deliver(packets(1, SendOpcode.RDMA_WRITE, BYTES));
        pair.b.queuePair.changeAccess(Pair.ALL_ACCESS);
        pair.b.memory.deregister(remote);
        pair.deliver(packets(2, SendOpcode.RDMA_WRITE, BYTES));
        assertThat(target).containsOnly(0);
        assertThat(pair.b.queuePair.counters().keyViolations).isEqualTo(1);
        assertThat(pair.b.queuePair.counters().droppedMessages).isEqualTo(2);
        assertNoResponse();
    }

    @Test
    void writeStopsWhenItsRegionIsDeregistered() {
        List<byte[]> p = packets(1, SendOpcode.RDMA_WRITE, BYTES);
        pair.deliver(p.subList(0, 1));
        pair.b.memory.deregister(remote);
        pair.deliver(p.subList(1, 3));
        assertThat(target).endsWith(new byte[BYTES - UcPair.MTU]);
        assertNoResponse();
    }

    @Test
    void writeStopsWhenItsRegionLosesTheRightAndContinuesWhenItDoesNot() {
        List<byte[]> p = packets(1, SendOpcode.RDMA_WRITE, BYTES);
        pair.deliver(p.subList(0, 1));
        assertThat(pair.b.memory.change(
                        remote,
                        AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit(),
                        remote.protectionDomain()))
                .isNotNull();
        pair.deliver(p.subList(1, 2));
        assertThat(Arrays.copyOfRange(target, UcPair.MTU, 2 * UcPair.MTU)).isNotEqualTo(new byte[UcPair.MTU]);
        assertThat(pair.b.memory.change(remote, AccessFlag.LOCAL_WRITE.bit(), remote.protectionDomain()))
                .isNotNull();
        pair.deliver(p.subList(2, 3));
        assertThat(target).endsWith(new byte[BYTES - 2 * UcPair.MTU]);
        assertThat(pair.b.queuePair.counters().droppedMessages).isEqualTo(1);
        assertNoResponse();
    }

    @Test
    void receiveIntoDeregisteredMemoryFailsTheQueuePair() {
        pair.b.postReceive(9, remote, BYTES);
        pair.b.memory.deregister(remote);
        pair.deliver(packets(1, SendOpcode.SEND, BYTES));
        assertThat(onlyReceive().status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void failureWithinASendLeavesNoStateForALaterSend() {
        UcQueuePair q = pair.b.queuePair;
        pair.b.post(1, SendOpcode.SEND, remote, BYTES, local);
        byte[] room = new byte[UcPair.MTU + QueuePairMachine.HEADER_ROOM_BYTES];
        assertThat(q.pollTransmit(0, MemorySegment.ofArray(room), 0)).isPositive(); // the first of three packets
        pair.b.postReceive(9, pair.b.register(new byte[8], 0), 8); // without local write access
        pair.deliver(packets(1, SendOpcode.SEND, 8));
        assertThat(q.state()).isEqualTo(QueuePairState.ERROR);
        pair.b.post(2, SendOpcode.SEND, remote, 8, local); // as by a thread that has not yet seen the error
        assertThat(q.pollTransmit(0, MemorySegment.ofArray(room), 0)).isZero();
        assertThat(q.state()).isEqualTo(QueuePairState.ERROR);
        q.flush();
        assertThat(pair.b.done)
                .filteredOn(d -> !d.isReceive())
                .extracting(Pair.Done::status)
                .containsExactly(
                        CompletionStatus.WORK_REQUEST_FLUSHED_ERROR, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
    }

    @Test
    void operationsThatNeedAResponseAreNotSent() {
        List<SendOpcode> refused = List.of(
                SendOpcode.RDMA_READ,
                SendOpcode.COMPARE_AND_SWAP,
                SendOpcode.FETCH_AND_ADD,
                SendOpcode.SEND_WITH_INVALIDATE);
        for (SendOpcode opcode : refused) {
            UcPair fresh = new UcPair();
            MemoryRegion region = fresh.a.register(new byte[8], Pair.ALL_ACCESS);
            fresh.a.post(1, opcode, region, 8, region);
            fresh.a.post(2, SendOpcode.SEND, region, 8, region);
            assertThat(fresh.a.sent()).isEmpty();
            assertThat(fresh.a.done)
                    .extracting(Pair.Done::status)
                    .containsExactly(
                            CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                            CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
    }

    @Test
    void packetsOfOtherSourcesAndTransportsHaveNoEffect() {
        pair.b.postReceive(9, remote, BYTES);
        List<byte[]> p = packets(1, SendOpcode.SEND, 10);
        pair.deliver(p.getFirst(), pair.b.low);
        p.getFirst()[0] = (byte) Opcode.RC_SEND_ONLY.code();
        pair.deliver(p);
        assertThat(pair.b.done).isEmpty();
        assertThat(pair.b.queuePair.counters().badSource).isEqualTo(1);
        assertThat(pair.b.queuePair.counters().badOpcode).isEqualTo(1);
        assertThat(pair.b.queuePair.counters().droppedPackets).isEqualTo(2);
    }

    @Test
    void unexpectedPsnDoesNotEstablishCommunication() {
        UcQueuePair q = pair.b.queuePair;
        QueuePairMachine.Peer path = Objects.requireNonNull(q.peer());
        q.reset();
        q.toInit(Pair.ALL_ACCESS);
        q.toReadyToReceive(path, UcPair.MTU, UcPair.SEND_PSN - 1);
        pair.deliver(packets(1, SendOpcode.SEND, 10)); // the preceding packet is missing
        assertThat(pair.b.events).isEmpty();
        pair.deliver(packets(2, SendOpcode.SEND, 10));
        assertThat(pair.b.events).containsExactly(QueuePairEvent.COMMUNICATION_ESTABLISHED);
    }

    @Test
    void nothingIsReceivedBeforeReadyToReceiveOrInError() {
        pair.b.postReceive(9, remote, BYTES);
        List<byte[]> p = packets(1, SendOpcode.SEND, 10);
        pair.b.queuePair.toError();
        assertThat(onlyReceive().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        pair.deliver(p);
        pair.b.queuePair.reset();
        pair.b.queuePair.toInit(Pair.ALL_ACCESS);
        pair.deliver(p);
        assertThat(pair.b.queuePair.counters().badState).isEqualTo(2);
        assertThat(pair.b.done).hasSize(1);
    }
}
