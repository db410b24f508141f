package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses to hand-made requests. */
class RcResponderTest extends ResponderFixture {
    private static int fullPayload(Opcode opcode) {
        boolean isEmpty = opcode.needsResponse() && !opcode.isAtomicWrite();
        return isEmpty ? 0 : opcode.isLast() ? 8 : MTU;
    }

    private static Stream<Opcode> requests() {
        return Arrays.stream(Opcode.values()).filter(o -> o.transport() == Opcode.Transport.RC && o.isRequest());
    }

    // ---- order of the packets of a message ----

    @ParameterizedTest
    @MethodSource("requests")
    void opcodeIsAcceptedOnlyIfItContinuesTheMessage(Opcode first) {
        requests().forEach(second -> {
            RcResponderTest t = new RcResponderTest();
            t.pair.b.postReceive(1, t.remote, 0, 8192);
            t.pair.b.postReceive(2, t.remote, 0, 8192);
            int total = 2 * MTU + 8;
            boolean startsWell = first.isFirst();
            List<String> a1 = t.responsesTo(
                    t.packet(first, PSN, fullPayload(first), first.isLast() ? fullPayload(first) : total));
            if (!startsWell || first.hasIeth()) {
                assertThat(a1)
                        .as("%s alone", first)
                        .isEqualTo(nak(startsWell ? Aeth.ACK : Aeth.NAK_INVALID_REQUEST, PSN));
                assertThat(t.pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
                return;
            }
            boolean continues = first.isLast()
                    ? second.isFirst()
                    : !second.isFirst() && (first.isSend() ? second.isSend() : second.isWrite());
            int payload = fullPayload(second);
            if (continues && second.isWrite() && second.isLast() && !first.isLast()) {
                total = MTU + 8; // the message ends here
                t = new RcResponderTest();
                t.pair.b.postReceive(1, t.remote, 0, 8192);
                t.responsesTo(t.packet(first, PSN, MTU, total));
            }
            List<String> a2 = t.responsesTo(t.packet(second, PSN + 1, payload, second.isLast() ? payload : total));
            if (continues) {
                assertThat(a2).as("%s then %s", first, second).hasSize(1).noneMatch(s -> s.contains(" 61"));
            } else {
                assertThat(a2).as("%s then %s", first, second).isEqualTo(nak(Aeth.NAK_INVALID_REQUEST, PSN + 1));
                assertThat(t.pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
                assertThat(t.pair.b.events).containsExactly(QueuePairEvent.REQUEST_ERROR);
            }
        });
    }

    // ---- lengths ----

    @Test
    void impossibleLengthsAreInvalidRequests() {
        record Case(Opcode opcode, int payload, int total) {}
        for (Case c : List.of(
                new Case(Opcode.RC_SEND_FIRST, MTU - 4, 0),
                new Case(Opcode.RC_SEND_FIRST, MTU + 4, 0),
                new Case(Opcode.RC_SEND_FIRST, 0, 0),
                new Case(Opcode.RC_SEND_ONLY, MTU + 1, 0),
                new Case(Opcode.RC_WRITE_FIRST, MTU - 1, 3000),
                new Case(Opcode.RC_WRITE_FIRST, MTU + 4, 3000),
                new Case(Opcode.RC_WRITE_FIRST, MTU, MTU),
                new Case(Opcode.RC_WRITE_ONLY, MTU + 4, MTU + 4),
                new Case(Opcode.RC_WRITE_ONLY, 10, 11),
                new Case(Opcode.RC_WRITE_ONLY, 10, 9),
                new Case(Opcode.RC_WRITE_FIRST, MTU, 0x8000_0001),
                new Case(Opcode.RC_WRITE_FIRST, MTU, -1),
                new Case(Opcode.RC_READ_REQUEST, 0, 0x8000_0001),
                new Case(Opcode.RC_READ_REQUEST, 0, -1),
                new Case(Opcode.RC_READ_REQUEST, 4, 8))) {
            RcResponderTest t = new RcResponderTest();
            t.pair.b.postReceive(1, t.remote, 0, 8192);
            assertThat(t.responsesTo(t.packet(c.opcode(), PSN, c.payload(), c.total())))
                    .as(c.toString())
                    .isEqualTo(nak(Aeth.NAK_INVALID_REQUEST, PSN));
            assertThat(t.remote.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(new byte[8192]);
        }
    }

    @Test
    void lastPacketHasAtLeastOneByteAndCompletesTheAnnouncedLength() {
        record Case(Opcode first, Opcode last, int payload, boolean isRight) {}
        for (Case c : List.of(
                new Case(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_LAST, 0, false),
                new Case(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_LAST, 1, true),
                new Case(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_LAST, MTU, true),
                new Case(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_LAST, MTU + 1, false),
                new Case(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_MIDDLE, MTU - 4, false),
                new Case(Opcode.RC_WRITE_FIRST, Opcode.RC_WRITE_LAST, 99, false),
                new Case(Opcode.RC_WRITE_FIRST, Opcode.RC_WRITE_LAST, 100, true),
                new Case(Opcode.RC_WRITE_FIRST, Opcode.RC_WRITE_LAST, 101, false),
                new Case(Opcode.RC_WRITE_FIRST, Opcode.RC_WRITE_MIDDLE, MTU, false))) {
            RcResponderTest t = new RcResponderTest();
            t.pair.b.postReceive(1, t.remote, 0, 8192);
            t.responsesTo(t.packet(c.first(), PSN, MTU, MTU + 100));
            assertThat(t.responsesTo(t.packet(c.last(), PSN + 1, c.payload(), 0)))
                    .as(c.toString())
                    .isEqualTo(nak(c.isRight() ? Aeth.ACK : Aeth.NAK_INVALID_REQUEST, PSN + 1));
        }
    }

    @Test
    void paddingThatDoesNotMatchTheLengthIsAnInvalidRequest() {
        pair.b.postReceive(1, remote, 0, 8192);
        Pair.WirePacket w = packet(Opcode.RC_SEND_ONLY, PSN, 8, 0);
        w.bytes()[1] |= 0x10; // seven bytes and one of padding: correct
        assertThat(responsesTo(w)).isEqualTo(nak(Aeth.ACK, PSN));
        pair.b.postReceive(2, remote, 0, 8192);
        w = packet(Opcode.RC_SEND_ONLY, PSN + 1, 8, 0);
        w.bytes()[1] |= 0x20; // six bytes and two of padding: correct
        assertThat(responsesTo(w)).isEqualTo(nak(Aeth.ACK, PSN + 1));
        pair.b.postReceive(3, remote, 0, 8192);
        w = packet(Opcode.RC_SEND_ONLY, PSN + 2, 7, 0);
        w.bytes()[1] &= ~0x30; // eight bytes without padding: correct
        assertThat(responsesTo(w)).isEqualTo(nak(Aeth.ACK, PSN + 2));
        pair.b.postReceive(4, remote, 0, 8192);
        Pair.WirePacket cut = packet(Opcode.RC_SEND_ONLY, PSN + 3, 7, 0);
        // seven bytes of which one is padding: six bytes would need two
        byte[] shorter = Arrays.copyOf(cut.bytes(), cut.bytes().length - 1);
        assertThat(responsesTo(new Pair.WirePacket(true, 0, cut.opcode(), PSN + 3, true, shorter, 0)))
                .isEqualTo(nak(Aeth.NAK_INVALID_REQUEST, PSN + 3));
    }

    @Test
    void messageLongerThanTheReceiveFailsBothSides() {
        MemoryRegion small = pair.b.register(1000);
        pair.b.postReceive(1, small, 0, 1000);
        pair.b.postReceive(2, small, 0, 1000);
        pair.a.post(1, SendOpcode.SEND, pair.a.register(2000), 0, 2000);
        pair.run();
        assertThat(pair.b.statuses(true))
                .containsExactly(CompletionStatus.LOCAL_LENGTH_ERROR, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    // ---- access rights of the queue pair ----

    @ParameterizedTest
    @EnumSource(
            value = SendOpcode.class,
            names = {"RDMA_WRITE", "RDMA_READ", "FETCH_AND_ADD", "COMPARE_AND_SWAP"})
    void operationThatTheQueuePairDoesNotAllowIsAnInvalidRequest(SendOpcode opcode) {
        Pair.Options o = new Pair.Options();
        o.accessB = switch (opcode) {
            case RDMA_WRITE -> Pair.ALL_ACCESS & ~AccessFlag.REMOTE_WRITE.bit();
            case RDMA_READ -> Pair.ALL_ACCESS & ~AccessFlag.REMOTE_READ.bit();
            default -> Pair.ALL_ACCESS & ~AccessFlag.REMOTE_ATOMIC.bit();
        };
        Pair p = new Pair(o);
        p.a.post(1, opcode, p.a.register(8), 8, p.b.register(8), 0);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(p.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(p.b.events).containsExactly(QueuePairEvent.REQUEST_ERROR);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
    void atomicAtAnUnalignedAddressIsAnInvalidRequest(int offset) {
        pair.a.post(1, SendOpcode.FETCH_AND_ADD, pair.a.register(8), 8, remote, offset);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void readWithoutDestinationResourcesIsAnInvalidRequest() {
        Pair.Options o = new Pair.Options();
        o.destinationDepth = 0;
        Pair p = new Pair(o);
        p.a.post(1, SendOpcode.RDMA_READ, p.a.register(8), 8, p.b.register(8), 0);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void readBeyondTheDepthRoundedUpToAPowerOfTwoIsAnInvalidRequest() {
        Pair.Options o = new Pair.Options();
        o.destinationDepth = 3;
        Pair p = new Pair(o);
        MemoryRegion m = p.b.register(8192);
        for (int i = 0; i < 5; i++) {
            Pair.WirePacket w = Pair.forge(true, Opcode.RC_READ_REQUEST, PSN + i, true, 0);
            Reth.write(w.segment(), Bth.LENGTH, m.address(), m.key(), 8);
            p.deliver(w);
        }
        p.pump(p.b);
        assertThat(p.traceLines())
                .containsExactly(
                        "B READ_RESPONSE_ONLY 4096",
                        "B READ_RESPONSE_ONLY 4097",
                        "B READ_RESPONSE_ONLY 4098",
                        "B READ_RESPONSE_ONLY 4099",
                        "B ACKNOWLEDGE 4100 61");
    }

    @Test
    void repeatedResponseInProgressDoesNotCountAgainstTheDepth() {
        Pair.Options o = new Pair.Options();
        o.destinationDepth = 1;
        Pair p = new Pair(o);
        MemoryRegion m = p.b.register(8192);
        p.burst = 3;
        for (int i = 0; i < 2; i++) { // the duplicate restarts the response before its last packet is sent
            Pair.WirePacket w = Pair.forge(true, Opcode.RC_READ_REQUEST, PSN, true, 0);
            Reth.write(w.segment(), Bth.LENGTH, m.address(), m.key(), 3000);
            p.deliver(w);
            p.pump(p.b);
            p.burst = 1;
        }
        Pair.WirePacket w = Pair.forge(true, Opcode.RC_READ_REQUEST, PSN + 3, true, 0);
        Reth.write(w.segment(), Bth.LENGTH, m.address(), m.key(), 8);
        p.deliver(w);
        p.burst = 10;
        p.pump(p.b);
        assertThat(p.traceLines().getLast()).isEqualTo("B READ_RESPONSE_ONLY 4099");
        assertThat(p.b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    // ---- duplicates and packets out of order ----

    @Test
    void duplicateReadIsServedOnlyIfItIsPartOfARememberedOne() {
        assertThat(responsesTo(packet(Opcode.RC_READ_REQUEST, PSN, 0, 3000))).hasSize(3);
        assertThat(responsesTo(packet(Opcode.RC_READ_REQUEST, PSN, 0, 3000)))
                .containsExactly(
                        "B READ_RESPONSE_FIRST 4096", "B READ_RESPONSE_MIDDLE 4097", "B READ_RESPONSE_LAST 4098");
        assertThat(responsesTo(part(PSN + 1, 1024, 1976, remote.key())))
                .containsExactly("B READ_RESPONSE_FIRST 4097", "B READ_RESPONSE_LAST 4098");
        assertThat(responsesTo(part(PSN + 2, 2048, 952, remote.key()))).containsExactly("B READ_RESPONSE_ONLY 4098");
        assertThat(responsesTo(part(PSN, 0, 3001, remote.key()))).isEmpty();
        assertThat(responsesTo(part(PSN, 0, -1, remote.key()))).isEmpty();
        assertThat(responsesTo(part(PSN, 0, 0, remote.key()))).isEmpty();
        assertThat(responsesTo(part(PSN, 8, 2000, remote.key()))).isEmpty();
        assertThat(responsesTo(part(PSN, 0, 3000, remote.key() + 1))).isEmpty();
        assertThat(responsesTo(part(PSN - 1, 0, 3000, remote.key()))).isEmpty();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    private Pair.WirePacket part(int psn, long offset, int length, int key) {
        Pair.WirePacket w = Pair.forge(true, Opcode.RC_READ_REQUEST, psn, true, 0);
        Reth.write(w.segment(), Bth.LENGTH, remote.address() + offset, key, length);
        return w;
    }

    @Test
    void unknownDuplicateAtomicIsDropped() {
        assertThat(responsesTo(packet(Opcode.RC_FETCH_ADD, PSN - 5, 0, 0))).isEmpty();
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isZero();
    }

    @Test
    void duplicatesAreAnsweredWhileAPacketIsMissing() {
        responsesTo(packet(Opcode.RC_READ_REQUEST, PSN, 0, 8));
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + 2, 8, 8)))
                .isEqualTo(nak(Aeth.NAK_PSN_SEQUENCE_ERROR, PSN + 1));
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + 3, 8, 8))).isEmpty();
        assertThat(responsesTo(packet(Opcode.RC_READ_REQUEST, PSN, 0, 8))).containsExactly("B READ_RESPONSE_ONLY 4096");
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + 1, 8, 8))).isEqualTo(nak(Aeth.ACK, PSN + 1));
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + 3, 8, 8)))
                .isEqualTo(nak(Aeth.NAK_PSN_SEQUENCE_ERROR, PSN + 2));
    }

    @Test
    void duplicateWriteIsAcknowledgedButNotExecuted() {
        responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8));
        responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + 1, 8, 8));
        responsesTo(packet(Opcode.RC_READ_REQUEST, PSN + 2, 0, 8));
        remote.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 77);
        // not the PSN of the READ, which would imply that its response was received
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8))).isEqualTo(nak(Aeth.ACK, PSN + 1));
        assertThat(remote.memory().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 77);
    }

    @Test
    void psnsOfThePrecedingHalfAreDuplicatesAndTheOthersAreAhead() {
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN - (1 << 23), 8, 8)))
                .isEqualTo(nak(Aeth.ACK, PSN - 1));
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + (1 << 23) - 1, 8, 8)))
                .isEmpty();
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8))).isEqualTo(nak(Aeth.ACK, PSN));
    }

    @Test
    void onlyAGapWithinReachOfThePeerIsAnsweredByANak() {
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + (1 << 16) + 1, 8, 8)))
                .isEmpty();
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN + (1 << 16), 8, 8)))
                .isEqualTo(nak(Aeth.NAK_PSN_SEQUENCE_ERROR, PSN));
        assertThat(pair.b.queuePair.counters().outOfWindowPsns).isEqualTo(1);
    }

    @Test
    void acknowledgementDoesNotOvertakePendingReadData() {
        pair.deliver(packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8));
        pair.deliver(packet(Opcode.RC_READ_REQUEST, PSN + 1, 0, 3000));
        pair.deliver(packet(Opcode.RC_WRITE_ONLY, PSN + 4, 8, 8));
        pair.pump(pair.b);
        assertThat(pair.traceLines())
                .containsExactly(
                        "B READ_RESPONSE_FIRST 4097",
                        "B READ_RESPONSE_MIDDLE 4098",
                        "B READ_RESPONSE_LAST 4099",
                        "B ACKNOWLEDGE 4100 1f");
    }

    @Test
    void reorderedPacketThatArrivesBeforeTheNakIsSentCancelsIt() {
        pair.deliver(packet(Opcode.RC_WRITE_ONLY, PSN + 1, 8, 8));
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8))).isEqualTo(nak(Aeth.ACK, PSN));
    }

    @Test
    void acknowledgementRequestedWithinAMessageIsSent() {
        assertThat(responsesTo(packet(Opcode.RC_WRITE_FIRST, PSN, MTU, 3000))).isEqualTo(nak(Aeth.ACK, PSN));
    }

    // ---- invalidation ----

    @Test
    void sendThatInvalidatesARegionIsAcknowledgedAndFailsTheReceiver() {
        pair.b.postReceive(1, remote, 0, 100);
        SendRequest r = pair.a.claim(1, SendOpcode.SEND_WITH_INVALIDATE);
        r.list.add(pair.a.register(8), 0, 8);
        r.invalidateKey = remote.key();
        pair.a.publish(r);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(pair.b.statuses(true)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(remote.isValid()).isTrue();
    }

    // ---- states and partitions ----

    @Test
    void firstRequestInReadyToReceiveEstablishesCommunication() {
        Pair p = new Pair();
        RcQueuePair q = p.b.queuePair;
        RcQueuePair.ReceiveParameters path = q.receiveParameters();
        q.reset();
        q.toInit(Pair.ALL_ACCESS);
        q.toReadyToReceive(Objects.requireNonNull(path));
        MemoryRegion m = p.b.register(8);
        for (int i = 0; i < 2; i++) {
            p.a.post(i, SendOpcode.RDMA_WRITE, p.a.register(8), 8, m, 0);
            p.run();
        }
        assertThat(p.b.events).containsExactly(QueuePairEvent.COMMUNICATION_ESTABLISHED);
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
    }

    @Test
    void unexpectedPsnDoesNotEstablishCommunication() {
        Pair p = new Pair();
        RcQueuePair q = p.b.queuePair;
        RcQueuePair.ReceiveParameters path = Objects.requireNonNull(q.receiveParameters());
        q.reset();
        q.toInit(Pair.ALL_ACCESS);
        q.toReadyToReceive(path);
        for (int psn : new int[] {path.receivePsn() + 1, path.receivePsn() - 1, path.receivePsn() + 0x40_0000}) {
            p.deliver(Pair.forge(true, Opcode.RC_SEND_ONLY, psn, true, 8));
        }
        assertThat(p.b.events).isEmpty();
        // no receive is posted, but the PSN is that of the peer
        p.deliver(Pair.forge(true, Opcode.RC_SEND_ONLY, path.receivePsn(), true, 8));
        assertThat(p.b.events).containsExactly(QueuePairEvent.COMMUNICATION_ESTABLISHED);
    }

    @Test
    void queuePairInErrorSendsNothing() {
        pair.b.queuePair.toError();
        assertThat(responsesTo(packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8))).isEmpty();
        assertThat(pair.b.queuePair.counters().badState).isEqualTo(1);
    }

    @Test
    void pendingAcknowledgementIsSentAfterTheApplicationEndsTheConnection() {
        pair.deliver(packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8));
        pair.b.queuePair.toError();
        pair.pump(pair.b);
        assertThat(pair.traceLines()).isEqualTo(nak(Aeth.ACK, PSN));
    }

    @Test
    void packetOfAnotherPartitionIsDroppedAndLimitedMembersAreServed() {
        Pair.WirePacket limited = packet(Opcode.RC_WRITE_ONLY, PSN, 8, 8);
        limited.bytes()[2] = 0x7f;
        assertThat(responsesTo(limited)).isEqualTo(nak(Aeth.ACK, PSN));
        Pair.WirePacket wrong = packet(Opcode.RC_WRITE_ONLY, PSN + 1, 8, 8);
        wrong.bytes()[2] = (byte) 0x80;
        wrong.bytes()[3] = 1;
        assertThat(responsesTo(wrong)).isEmpty();
        assertThat(pair.b.queuePair.counters().badPartitionKey).isEqualTo(1);
    }

    @Test
    void packetsOfOtherTransportsAreDropped() {
        for (Opcode opcode : Opcode.values()) {
            if (opcode.transport() != Opcode.Transport.RC) {
                assertThat(responsesTo(packet(opcode, PSN, 0, 0))).isEmpty();
            }
        }
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(pair.b.queuePair.counters().badOpcode).isPositive();
    }

    @Test
    void statesChangeOnlyInOrder() {
        RcQueuePair q = pair.b.queuePair;
        assertThatThrownBy(() -> q.toInit(0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("0x22");
        q.reset();
        assertThat(q.state()).isEqualTo(QueuePairState.RESET);
        RcQueuePair.SendParameters send = new RcQueuePair.SendParameters(0, 0, 0, 0, 0);
        assertThatThrownBy(() -> q.toReadyToSend(send)).isInstanceOf(IllegalStateException.class);
        q.toInit(0);
        QueuePairMachine.Peer peer = new QueuePairMachine.Peer(0, 0, 0, 0, 0, 1, 0, 64, 0);
        RcQueuePair.ReceiveParameters bad = new RcQueuePair.ReceiveParameters(peer, 1000, 0, 0, 0);
        assertThatThrownBy(() -> q.toReadyToReceive(bad))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1000");
        assertThat(q.state()).isEqualTo(QueuePairState.INIT);
        assertThat(q.receiveParameters()).isNull();
    }

    @Test
    void abandonedQueuePairSendsOnlyItsPendingAcknowledgement() {
        pair.b.postReceive(1, remote, 0, 8);
        pair.deliver(packet(Opcode.RC_SEND_ONLY, PSN, 8, 8));
        pair.b.postReceive(2, remote, 0, 8);
        pair.b.post(3, SendOpcode.SEND, remote, 0, 8);
        pair.b.queuePair.abandon();
        pair.pump(pair.b);
        assertThat(pair.traceLines()).isEqualTo(nak(Aeth.ACK, PSN));
        assertThat(pair.b.ids(true)).containsExactly(1L);
        assertThat(pair.b.ids(false)).isEmpty();
    }

    @Test
    void queueAcceptsExactlyItsCapacity() {
        Pair.Options o = new Pair.Options();
        o.requests = 5;
        Pair p = new Pair(o);
        p.wire = w -> List.of();
        MemoryRegion m = p.a.register(8);
        for (int i = 0; i < 5; i++) {
            p.a.post(i, SendOpcode.SEND, m, 0, 8);
            p.a.postReceive(i, m, 0, 8);
        }
        assertThat(p.a.queuePair.sendQueue().claim()).isNull();
        assertThat(p.a.queuePair.receiveQueue().claim()).isNull();
        p.a.queuePair.toError();
        assertThat(p.a.done).hasSize(10);
        assertThat(p.a.queuePair.sendQueue().claim()).isNotNull();
    }
}
