package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Queue pair numbers belong to the process and are not given out again soon. */
class QueuePairTableTest {
    private final QueuePairTable table = new QueuePairTable(7, new Random(1)::nextInt);

    @Test
    void numbersCarryTheSlotAndDiffer() {
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < QueuePairTable.MAX_QUEUE_PAIRS; i++) {
            int number = table.reserve(0);
            assertThat(number >>> 16).isEqualTo(7);
            assertThat(numbers.add(number)).isTrue();
        }
        assertThat(table.reserve(0)).isEqualTo(-1);
    }

    @Test
    void numberOfAnotherSlotIsNobodys() {
        assertThat(table.find(8 << 16)).isNull();
        assertThat(table.find(7 << 16)).isNull();
    }
}
