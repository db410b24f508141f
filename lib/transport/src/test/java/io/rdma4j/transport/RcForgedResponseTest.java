package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Psn;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forged responses with an outstanding PSN, as an attacker may guess it, have no effect. */
class RcForgedResponseTest {
    private static final int BYTES = 64;

    private final Pair pair = new Pair();
    private final MemoryRegion local = pair.a.register(BYTES);
    private final MemoryRegion remote = pair.b.register(BYTES);
    private int sent;

    private void send(SendOpcode opcode, int count) {
        for (int i = 0; i < count; i++) {
            pair.a.post(sent++, opcode, local, BYTES, remote, 0);
        }
    }

    /** Completes messages, so that the requester knows that the peer counts them. */
    private void complete(int count) {
        send(SendOpcode.RDMA_WRITE, count);
        pair.run();
        assertThat(pair.a.done).hasSize(sent);
    }

    private void deliverResponse(Opcode opcode, int distance, int syndrome, int msn) {
        int psn = Psn.plus(pair.options.psnA, distance);
        Pair.WirePacket response = Pair.forge(false, opcode, psn, false, opcode.isRead() ? BYTES : 0);
        if (opcode.hasAeth()) {
            Aeth.write(response.segment(), Bth.LENGTH, syndrome, msn & Psn.MASK);
        }
        pair.deliver(response);
    }

    @ParameterizedTest
    @ValueSource(ints = {Aeth.ACK, Aeth.RNR_NAK, Aeth.NAK_PSN_SEQUENCE_ERROR, Aeth.NAK_INVALID_REQUEST})
    void acknowledgementWithAnImplausibleMsnHasNoEffect(int syndrome) {
        complete(3);
        send(SendOpcode.RDMA_WRITE, 2);
        pair.pump(pair.a);
        for (int msn : new int[] {0, 1, 2, 6, 1 << 23, -1}) {
            deliverResponse(Opcode.RC_ACKNOWLEDGE, 4, syndrome, msn);
        }
        assertThat(pair.a.done).hasSize(3);
        assertThat(pair.a.queuePair.counters().unexpectedResponses).isEqualTo(6);
        pair.run();
        assertThat(pair.a.statuses(false)).hasSize(5).containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.a.queuePair.counters().retransmittedPackets).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {"RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_LAST", "RC_READ_RESPONSE_ONLY", "RC_ATOMIC_ACKNOWLEDGE"
            })
    void readOrAtomicDataWithAnImplausibleMsnIsDropped(Opcode opcode) {
        complete(1);
        send(SendOpcode.RDMA_READ, 1);
        pair.pump(pair.a);
        deliverResponse(opcode, 1, Aeth.ACK, 3);
        assertThat(pair.a.queuePair.counters().unexpectedResponses).isEqualTo(1);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
    }

    /** A middle packet carries no MSN; if accepted, it would acknowledge all earlier requests. */
    @Test
    void middlePacketOfAReadResponseIsIgnoredWithoutARead() {
        send(SendOpcode.RDMA_WRITE, 3);
        pair.pump(pair.a);
        deliverResponse(Opcode.RC_READ_RESPONSE_MIDDLE, 2, 0, 0);
        assertThat(pair.a.done).isEmpty();
        assertThat(pair.a.queuePair.counters().unexpectedResponses).isEqualTo(1);
        pair.run();
        assertThat(pair.a.statuses(false)).hasSize(3).containsOnly(CompletionStatus.SUCCESS);
    }

    @Test
    void peerThatDoesNotCountMessagesIsServed() {
        pair.wire = w -> {
            if (!w.fromA() && w.opcode().hasAeth()) {
                Aeth.write(w.segment(), Bth.LENGTH, Aeth.syndrome(w.segment(), Bth.LENGTH), 0);
            }
            return List.of(Pair.LATENCY_NANOS);
        };
        complete(3);
        send(SendOpcode.RDMA_READ, 3);
        pair.run();
        assertThat(pair.a.statuses(false)).hasSize(6).containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.a.queuePair.counters().unexpectedResponses).isZero();
        assertThat(pair.a.queuePair.counters().retransmittedPackets).isZero();
    }
}
