package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.Damage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.AnsweredTraffic;
import io.rdma4j.value.CompletionStatus;
import java.time.Duration;

/**
 * SEND, WRITE, WRITE with immediate data and READ of all lengths while packets are dropped independently in both
 * directions. Every byte is compared, and every completion must be reported once and in order. At 20 % loss, transfers
 * are short and a few may fail with RETRY_EXC on either side. If the passive side fails, the active side is
 * disconnected.
 */
public final class IntegrityUnderLoss implements AcceptanceTest.Body {
    private static final int[] LOSS_PER_MILLE = {1, 10, 50, 100};
    /** Exponent of the local ACK timeout, 17 ms, because a busy machine may stall for longer than eight times 4 ms. */
    private static final int ACK_TIMEOUT = 12;

    private static final int TRANSFER_BYTES = 4 << 20;
    private static final int MIN_COMPLETE_PER_CENT = 95;

    @Override
    public String required(Scale scale) {
        return "0.1, 1, 5, 10 %% loss, %d MiB per operation: no wrong byte or completion; 20 %%: 95 %% of %d x 4 MiB complete, the rest RETRY_EXC"
                .formatted(mebibytes(scale), transfers(scale));
    }

    private static int mebibytes(Scale scale) {
        return scale.of(4, 256);
    }

    private static int transfers(Scale scale) {
        return scale.of(20, 100);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Child mover = AnsweredTraffic.begin(stage, hosts, ACK_TIMEOUT, "0,1,1023,1024,1025,4096,65536,1048576")
                .mover(stage, hosts);
        Duration limit = Duration.ofSeconds(stage.scale().of(100, 1200));
        long bytes = (long) mebibytes(stage.scale()) << 20;
        long transferred = 0;
        for (int perMille : LOSS_PER_MILLE) {
            stage.progress(perMille / 10.0 + " % loss");
            hosts.damage(Damage.loss(perMille));
            JsonNode done = mover.ask("exchange " + bytes + " SEND WRITE WRITE_IMMEDIATE READ", "done", limit);
            if (!done.get("wrong").asText().isEmpty()) {
                return Outcome.failed("at %.1f %%: %s"
                        .formatted(perMille / 10.0, done.get("wrong").asText()));
            }
            transferred += done.get("bytes").asLong();
        }
        hosts.damage(Damage.loss(200));
        int complete = 0;
        int transfers = transfers(stage.scale());
        for (int i = 0; i < transfers; i++) {
            stage.progress("20 % loss, transfer " + (i + 1) + " of " + transfers);
            JsonNode done = mover.ask("exchange " + TRANSFER_BYTES + " WRITE", "done", limit);
            if (done.get("wrong").asText().isEmpty()) {
                complete++;
            } else if (!done.path("peerLeft").asBoolean()
                    && !done.get("status").asText().equals(CompletionStatus.RETRY_EXCEEDED_ERROR.name())) {
                return Outcome.failed("at 20 %: " + done.get("wrong").asText());
            }
        }
        return Outcome.of(
                complete * 100 >= MIN_COMPLETE_PER_CENT * transfers,
                "%d MiB transferred, no wrong byte or completion; 20 %%: %d of %d complete, %d RETRY_EXC"
                        .formatted(transferred >> 20, complete, transfers, transfers - complete));
    }
}
