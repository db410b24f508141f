package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The time at which a message is acknowledged whose completion an application polls. The device's threads are not
 * involved: after the poll that returns the completion, the receiving process does nothing, like a process that is
 * killed.
 */
class AcknowledgementTest {
    private static final int POLLS = 10_000;

    private final SteppedHosts hosts = new SteppedHosts(100);
    private final TestEndpoint left = hosts.endpoint("left", "10.0.0.1");
    private final TestEndpoint right = hosts.endpoint("right", "10.0.0.2");
    private final WorkCompletion[] completions = WorkCompletion.array(1);

    AcknowledgementTest() {
        TestEndpoint.connect(left, right);
    }

    @AfterEach
    void close() {
        left.close();
        right.close();
        hosts.close();
    }

    private void send(TestEndpoint from) {
        from.queuePair.postSend(
                new SendWorkRequest().reset(1).from(from.region, 0, 8).signaled());
    }

    private static long sent(QueuePair queuePair) {
        return queuePair.counters().getOrDefault("sent_pkts", 0L);
    }

    /** Polls only this end until it has a completion. */
    private void await(TestEndpoint endpoint) {
        for (int i = 0; i < POLLS; i++) {
            if (endpoint.completions.poll(completions) > 0) {
                assertThat(completions[0].isSuccess()).isTrue();
                return;
            }
        }
        throw new AssertionError("no completion");
    }

    @Test
    void messageOfAnApplicationThatDoesNotReplyIsAcknowledgedBeforeItIsReported() {
        for (int i = 1; i <= 3; i++) {
            right.postReceive(i);
            send(left);
            await(right);
            assertThat(sent(right.queuePair)).isEqualTo(i);
            await(left);
        }
    }

    /** The acknowledgement and the reply are sent in one burst. */
    @Test
    void messageOfAnApplicationThatRepliesIsAcknowledgedWithTheReply() {
        for (int i = 1; i <= 3; i++) {
            right.postReceive(i);
            left.postReceive(i);
            send(left);
            await(right);
            long sentBefore = sent(right.queuePair);
            send(right);
            assertThat(sent(right.queuePair) - sentBefore).isEqualTo(i == 1 ? 1 : 2);
            await(left);
            await(left);
            hosts.step(0); // the left end acknowledges the reply
            await(right);
        }
    }

    /**
     * As with a card, which acknowledges before the application replies: programs free or count their sent messages by
     * it.
     */
    @Test
    void sendIsCompletedBeforeTheReplyToIt() {
        for (int i = 1; i <= 3; i++) {
            right.postReceive(i);
            left.postReceive(i);
            send(left);
            await(right);
            send(right);
            await(left);
            assertThat(completions[0].opcode()).isEqualTo(CompletionOpcode.SEND);
            await(left);
            assertThat(completions[0].opcode()).isEqualTo(CompletionOpcode.RECEIVE);
            hosts.step(0); // the left end acknowledges the reply
            await(right);
        }
    }
}
