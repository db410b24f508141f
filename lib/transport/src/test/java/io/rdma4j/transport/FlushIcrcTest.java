package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An unanswered FLUSH is retransmitted with the other ICRC; an answered one shows which ICRC the peer expects. */
class FlushIcrcTest {
    private final FlushIcrc icrc = new FlushIcrc();

    @Test
    void icrcOfTheSpecificationIsTriedFirst() {
        icrc.start();
        assertThat(icrc.isOfLinux()).isFalse();
        icrc.onAnswered();
        icrc.onRepeated();
        assertThat(icrc.isOfLinux()).as("a peer that has answered it keeps it").isFalse();
    }

    @Test
    void silenceSwitchesUntilAFirstTransmissionIsAnswered() {
        icrc.start();
        icrc.onRepeated();
        assertThat(icrc.isOfLinux()).isTrue();
        icrc.onRepeated();
        assertThat(icrc.isOfLinux()).isFalse();
        icrc.onRepeated();
        icrc.onAnswered();
        assertThat(icrc.isOfLinux()).as("it may have been either").isTrue();
        icrc.onAnswered();
        icrc.onRepeated();
        assertThat(icrc.isOfLinux()).isTrue();
    }

    /** As with Linux's rdma_rxe, which drops every FLUSH with the ICRC of the specification. */
    @Test
    void peerThatDropsOneOfThemIsServedByTheSecondPacket() {
        Pair.Options options = new Pair.Options();
        options.tailLossProbes = true;
        Pair pair = new Pair(options);
        pair.wire = w -> w.opcode() == Opcode.RC_FLUSH && !pair.a.queuePair.sealsFlushesAsLinux()
                ? List.of()
                : List.of(Pair.LATENCY_NANOS);
        MemoryRegion target = pair.b.register(64);
        for (int i = 0; i < 3; i++) {
            SendRequest r = pair.a.claim(i, SendOpcode.FLUSH);
            r.remoteAddress = target.address();
            r.remoteKey = target.key();
            r.flushBytes = 64;
            r.flushPlacement = 1;
            pair.a.publish(r);
            pair.run(Long.MAX_VALUE - 1);
        }
        assertThat(pair.a.statuses(false))
                .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
        QueuePairCounters counters = pair.a.queuePair.counters();
        assertThat(counters.tailLossProbes + counters.timeouts).isEqualTo(1);
    }
}
