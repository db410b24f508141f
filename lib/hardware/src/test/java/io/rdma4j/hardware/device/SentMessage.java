package io.rdma4j.hardware.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

/** A message with immediate data that a queue pair of the test driver sends to itself. */
final class SentMessage {
    private SentMessage() {}

    /** Sends the message. Checks its bytes, and every field of the receive's completion and then of the send's. */
    static void check(QueuePair queuePair, CompletionQueue queue, MemoryRegion region, WorkCompletion[] completions) {
        region.memory().asSlice(0, 64).fill((byte) 7);
        queuePair.postReceive(new ReceiveWorkRequest().reset(11).into(region, 128, 64));
        queuePair.postSend(SendWorkRequest.send(12, region, 0, 64)
                .withImmediate(0x01020304)
                .signaled());
        assertThat(queue.poll(completions)).isEqualTo(2);
        assertThat(completions[0].id()).isEqualTo(11);
        assertThat(completions[0].opcode()).isEqualTo(CompletionOpcode.RECEIVE);
        assertThat(completions[0].byteLength()).isEqualTo(64);
        assertThat(completions[0].hasImmediate()).isTrue();
        assertThat(completions[0].immediate()).isEqualTo(0x01020304);
        assertThat(completions[0].queuePairNumber()).isEqualTo(0x123);
        assertThat(completions[1].id()).isEqualTo(12);
        assertThat(completions[1].opcode()).isEqualTo(CompletionOpcode.SEND);
        assertThat(completions[1].hasImmediate()).isFalse();
        assertThat(region.memory().get(JAVA_BYTE, 191)).isEqualTo((byte) 7);
    }
}
