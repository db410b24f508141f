package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.Completion;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

/** The ring of completions keeps their order while its table grows, and holds exactly its capacity. */
class CompletionRingTest {
    private static final int CAPACITY = 256;

    private final CompletionRing ring = new CompletionRing(CAPACITY);
    private long added;
    private long polled;

    private boolean add() {
        return add(0);
    }

    private boolean add(int queuePairNumber) {
        Completion completion = new Completion();
        completion.queuePairNumber = queuePairNumber;
        completion.workRequestId = added;
        completion.status = CompletionStatus.SUCCESS;
        completion.opcode = SendOpcode.SEND;
        boolean fits = ring.add(completion, added);
        added += fits ? 1 : 0;
        return fits;
    }

    private void poll(int most) {
        WorkCompletion[] completions = WorkCompletion.array(most);
        int count = ring.poll(completions);
        for (int i = 0; i < count; i++) {
            assertThat(completions[i].id()).isEqualTo(polled++);
        }
    }

    @Test
    void ringHoldsAsManyAsItsCapacity() {
        while (add()) {
            assertThat(ring.size()).isEqualTo(added);
        }
        assertThat(added).isEqualTo(CAPACITY);
        while (polled < added) {
            poll(7);
        }
        assertThat(ring.size()).isZero();
    }

    @Test
    void completionsKeepTheirOrderWhileTheTableGrows() {
        for (int burst = 1; burst <= CAPACITY; burst += 3) {
            for (int i = 0; i < burst && ring.size() < CAPACITY; i++) {
                assertThat(add()).isTrue();
            }
            poll(burst / 2 + 1);
        }
        while (polled < added) {
            poll(CAPACITY);
        }
    }

    @Test
    void datagramCompletionReportsIpv4() {
        Completion completion = new Completion();
        completion.status = CompletionStatus.SUCCESS;
        completion.isReceive = true;
        completion.hasRouteHeader = true;
        WorkCompletion[] polled = WorkCompletion.array(1);
        for (int serviceLevel = 1; serviceLevel <= 2; serviceLevel++) {
            completion.hasIpv4Header = serviceLevel == 2;
            ring.add(completion, 0);
            ring.poll(polled);
            assertThat(polled[0].serviceLevel()).isEqualTo(serviceLevel);
        }
        completion.hasRouteHeader = false;
        ring.add(completion, 0);
        ring.poll(polled);
        assertThat(polled[0].serviceLevel()).isZero();
    }

    @Test
    void completionsOfOneQueuePairAreRemoved() {
        for (int i = 0; i < 100; i++) {
            assertThat(add(i % 3)).isTrue();
        }
        poll(10);
        ring.remove(1);
        WorkCompletion[] completions = WorkCompletion.array(CAPACITY);
        int count = ring.poll(completions);
        int at = 0;
        for (int i = 10; i < 100; i++) {
            if (i % 3 != 1) {
                assertThat(completions[at++].id()).isEqualTo(i);
            }
        }
        assertThat(count).isEqualTo(at);
        assertThat(ring.size()).isZero();
        ring.remove(1);
        assertThat(ring.size()).isZero();
    }

    @Test
    void resizedRingKeepsItsCompletions() {
        for (int i = 0; i < 100; i++) {
            assertThat(add()).isTrue();
        }
        assertThat(ring.resize(64)).isFalse();
        assertThat(ring.resize(128)).isTrue();
        assertThat(ring.capacity()).isEqualTo(128);
        while (add()) {
            assertThat(ring.size()).isEqualTo(added);
        }
        assertThat(added).isEqualTo(128);
        while (polled < added) {
            poll(16);
        }
    }
}
