package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Deadlines fire when they have passed, regardless of earlier moves. */
class DeadlineQueueTest {
    private static final class Item extends DeadlineTask {
        private long wanted = Long.MAX_VALUE;
        private int fired;

        @Override
        protected void onDeadline(long nowNanos) {
            assertThat(wanted).isLessThanOrEqualTo(nowNanos);
            wanted = Long.MAX_VALUE;
            fired++;
        }
    }

    @Test
    void everyItemFiresOnceWhenItIsDueRegardlessOfMoves() {
        Random random = new Random(42);
        DeadlineQueue queue = new DeadlineQueue();
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            items.add(new Item());
        }
        long now = 0;
        for (int step = 0; step < 20_000; step++) {
            Item item = items.get(random.nextInt(items.size()));
            int action = random.nextInt(10);
            if (action == 0) {
                item.wanted = Long.MAX_VALUE;
                queue.remove(item);
            } else if (action == 1) {
                item.wanted = Long.MAX_VALUE;
                queue.schedule(item, Long.MAX_VALUE);
            } else if (action < 8) {
                item.wanted = now + random.nextInt(1000);
                queue.schedule(item, item.wanted);
            } else {
                now += random.nextInt(50);
                queue.runDue(now);
                long limit = now;
                assertThat(items).allSatisfy(each -> assertThat(each.wanted).isGreaterThan(limit));
            }
            long earliest = items.stream().mapToLong(each -> each.wanted).min().orElseThrow();
            assertThat(queue.nextDeadlineNanos()).isEqualTo(earliest);
        }
        assertThat(items).allSatisfy(each -> assertThat(each.fired).isPositive());
    }
}
