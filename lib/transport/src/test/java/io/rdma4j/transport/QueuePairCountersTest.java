package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import org.junit.jupiter.api.Test;

class QueuePairCountersTest {
    @Test
    void addIncludesEveryCounter() throws IllegalAccessException {
        QueuePairCounters sums = new QueuePairCounters();
        QueuePairCounters added = new QueuePairCounters();
        Field[] counters = QueuePairCounters.class.getFields();
        for (int i = 0; i < counters.length; i++) {
            counters[i].setLong(sums, 1000);
            counters[i].setLong(added, i);
        }
        sums.add(added);
        for (int i = 0; i < counters.length; i++) {
            assertThat(counters[i].getLong(sums)).as(counters[i].getName()).isEqualTo(1000 + i);
        }
    }
}
