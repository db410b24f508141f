package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.UdQueuePair;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A newly active queue pair waits for one quantum of the bulk transfers, and does not starve them. */
class ActiveQueueTest {
    private final ActiveQueue activeQueue = new ActiveQueue();
    private final List<DrivenQueuePair> bulk = List.of(queuePair(), queuePair(), queuePair());
    private final DrivenQueuePair newcomer = queuePair();

    private static DrivenQueuePair queuePair() {
        QueuePairMachine machine = new UdQueuePair(
                2,
                new QueuePairMachine.Configuration(1, 1, 1, 1, 0, false, 1),
                completion -> {},
                completion -> {},
                event -> {});
        return new DrivenQueuePair(StackAccess.devices(ProcessStack.stack()).engine(), machine, failure -> {});
    }

    private void bulkQuantum(int index) {
        assertThat(activeQueue.next()).isSameAs(bulk.get(index));
        activeQueue.addContinuing(bulk.get(index));
    }

    @Test
    void continuingQueuePairsAreServedInTurn() {
        bulk.forEach(activeQueue::addContinuing);
        for (int i = 0; i < 7; i++) {
            bulkQuantum(i % 3);
        }
        assertThat(activeQueue.isEmpty()).isFalse();
    }

    @Test
    void newlyActiveQueuePairWaitsForOneQuantumAtMost() {
        bulk.forEach(activeQueue::addContinuing);
        bulkQuantum(0);
        activeQueue.addNew(newcomer);
        assertThat(activeQueue.next()).isSameAs(newcomer);
        activeQueue.addNew(newcomer);
        bulkQuantum(1);
        assertThat(activeQueue.next()).isSameAs(newcomer);
    }

    @Test
    void repeatedlyActivatedQueuePairLeavesHalfOfTheQuanta() {
        bulk.forEach(activeQueue::addContinuing);
        for (int i = 0; i < 9; i++) {
            activeQueue.addNew(newcomer);
            assertThat(activeQueue.next()).isSameAs(newcomer);
            activeQueue.addNew(newcomer);
            bulkQuantum(0);
            assertThat(activeQueue.next()).isSameAs(newcomer);
            bulkQuantum(1);
            bulkQuantum(2);
        }
    }

    @Test
    void queueIsEmptyAfterAllWereServed() {
        bulk.forEach(activeQueue::addNew);
        bulk.forEach(each -> assertThat(activeQueue.next()).isSameAs(each));
        assertThat(activeQueue.isEmpty()).isTrue();
    }
}
