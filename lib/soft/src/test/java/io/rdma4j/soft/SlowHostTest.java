package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.Bth;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A host that needs milliseconds for a few packets, as in the interpreter or while other programs use the processors. */
class SlowHostTest {
    private static final int ACKNOWLEDGEMENT = 0x11;

    private static final long STEP_NANOS = 2_000_000;

    /**
     * The peer repeats its packets while it waits for an acknowledgement, and ends the connection if the
     * acknowledgement does not arrive in time.
     */
    @Test
    void packetsAreAcknowledgedBeforeAllOfThemAreProcessed() {
        try (SteppedHosts hosts = new SteppedHosts(STEP_NANOS);
                TestEndpoint receiver = hosts.endpoint("receiver", "10.0.0.1");
                TestEndpoint sender = hosts.endpoint("sender", "10.0.0.2")) {
            TestEndpoint.connect(receiver, sender);
            List<Integer> opcodes = new ArrayList<>();
            hosts.network.observe(frame -> opcodes.add(Bth.opcode(frame.segment, frame.offset)));
            SendWorkRequest write = SendWorkRequest.write(1, sender.region, receiver.region.remote());
            sender.queuePair.postSend(write);
            receiver.completions.poll(new WorkCompletion[0]);
            receiver.completions.poll(new WorkCompletion[0]);
            assertThat(opcodes).filteredOn(opcode -> opcode == ACKNOWLEDGEMENT).hasSizeGreaterThan(1);
        }
    }
}
