package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sharing.Slot;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Queue pair numbers identify the process and its engine, and are not reused soon. */
class QueuePairTableTest {
    private final QueuePairTable table = new QueuePairTable(new QueuePairNumbers(7, 1), 0, new Random(1)::nextInt);

    @Test
    void numbersCarryTheSlotAndDiffer() {
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < QueuePairTable.maxQueuePairs(1 << 15); i++) {
            int number = table.reserve(0);
            assertThat(number >>> 16).isEqualTo(7);
            assertThat(numbers.add(number)).isTrue();
        }
        assertThat(table.reserve(0)).isEqualTo(-1);
    }

    @Test
    void releasedNumberIsFreeAtOnce() {
        for (int i = 0; i <= 1 << 16; i++) {
            table.release(table.reserve(0));
        }
        assertThat(table.size()).isZero();
        assertThat(table.reserve(0)).isNotEqualTo(-1);
    }

    @Test
    void numbersIdentifyTheirEngine() {
        for (int engines = 1; engines <= Engines.MAX_ENGINES; engines++) {
            QueuePairNumbers numbers = new QueuePairNumbers(7, engines);
            int total = 0;
            for (int engine = 0; engine < engines; engine++) {
                QueuePairTable some = new QueuePairTable(numbers, engine, new Random(engine)::nextInt);
                for (int i = 0; i < 1000; i++) {
                    int number = some.reserve(0);
                    assertThat(numbers.engineOf(number)).isEqualTo(engine);
                    assertThat(number).isBetween(numbers.first(engine), numbers.last(engine));
                    assertThat(Slot.isOfMainEngine(number)).isEqualTo(engine == 0);
                }
                assertThat(numbers.engineOf(numbers.first(engine))).isEqualTo(engine);
                assertThat(numbers.engineOf(numbers.last(engine))).isEqualTo(engine);
                total += numbers.count(engine);
            }
            int all = engines == 1 ? 1 << 15 : 1 << 16;
            assertThat(total).isBetween(all - Engines.MAX_ENGINES, all);
        }
    }

    @Test
    void numberOfAnotherSlotIsNotFound() {
        assertThat(table.find(8 << 16)).isNull();
        assertThat(table.find(7 << 16)).isNull();
    }
}
