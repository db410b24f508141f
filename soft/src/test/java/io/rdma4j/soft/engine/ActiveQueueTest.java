package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.UdQueuePair;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A short message waits for one turn of those with long ones, and does not keep them from sending. */
class ActiveQueueTest {
    private final ActiveQueue activeQueue = new ActiveQueue();
    private final List<DrivenQueuePair> longOnes = List.of(queuePair(), queuePair(), queuePair());
    private final DrivenQueuePair shortOne = queuePair();

    private static DrivenQueuePair queuePair() {
        QueuePairMachine machine = new UdQueuePair(
                2,
                new QueuePairMachine.Configuration(1, 1, 1, 1, 0, false, 1),
                completion -> {},
                completion -> {},
                event -> {});
        return new DrivenQueuePair(ProcessStack.stack().internals().engine(), machine, failure -> {});
    }

    private void longTurn(int index) {
        assertThat(activeQueue.next()).isSameAs(longOnes.get(index));
        activeQueue.goOn(longOnes.get(index));
    }

    @Test
    void whoGoesOnComesAgainAfterAllOthers() {
        longOnes.forEach(activeQueue::goOn);
        for (int i = 0; i < 7; i++) {
            longTurn(i % 3);
        }
        assertThat(activeQueue.isEmpty()).isFalse();
    }

    @Test
    void whoBeginsWaitsForOneTurnAtMost() {
        longOnes.forEach(activeQueue::goOn);
        longTurn(0);
        activeQueue.begin(shortOne);
        assertThat(activeQueue.next()).isSameAs(shortOne);
        activeQueue.begin(shortOne);
        longTurn(1);
        assertThat(activeQueue.next()).isSameAs(shortOne);
    }

    @Test
    void whoBeginsAgainAndAgainLeavesHalfOfTheTurns() {
        longOnes.forEach(activeQueue::goOn);
        for (int i = 0; i < 9; i++) {
            activeQueue.begin(shortOne);
            assertThat(activeQueue.next()).isSameAs(shortOne);
            activeQueue.begin(shortOne);
            longTurn(0);
            assertThat(activeQueue.next()).isSameAs(shortOne);
            longTurn(1);
            longTurn(2);
        }
    }

    @Test
    void nobodyIsLeftWhenAllHaveHadTheirTurn() {
        longOnes.forEach(activeQueue::begin);
        longOnes.forEach(each -> assertThat(activeQueue.next()).isSameAs(each));
        assertThat(activeQueue.isEmpty()).isTrue();
    }
}
