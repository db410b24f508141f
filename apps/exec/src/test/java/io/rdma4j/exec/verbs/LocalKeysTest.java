package io.rdma4j.exec.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.exec.bridge.Operation;
import io.rdma4j.testkit.TestNetwork;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests {@link LocalKeys} and {@link LocalMemory}. */
class LocalKeysTest {
    @Test
    void memoryIsFoundByItsKeyUntilItIsDeregistered() {
        try (TestNetwork network = new TestNetwork();
                CEnd end = new CEnd(network.addHost("10.0.0.1"))) {
            LocalKeys keys = Handles.of(end.domain, Domain.class).keys();
            Random random = new Random(1);
            Map<Integer, Integer> regionOfKey = new HashMap<>();
            for (int i = 0; i < 3000; i++) {
                if (regionOfKey.size() < 40 && random.nextBoolean()) {
                    long address = end.memory.address();
                    int region = end.create(Operation.REGISTER, end.domain, address, 64, address, 1);
                    regionOfKey.put((int) end.result(1), region);
                } else if (!regionOfKey.isEmpty()) {
                    int key = regionOfKey.keySet().iterator().next();
                    LocalMemory found = Objects.requireNonNull(keys.find(key));
                    assertThat(end.call(Operation.CLOSE, Objects.requireNonNull(regionOfKey.remove(key))))
                            .isZero();
                    assertThat(found.isRegistered()).isFalse();
                    assertThat(keys.find(key)).isNull();
                }
            }
            regionOfKey.keySet().forEach(key -> assertThat(keys.find(key)).isNotNull());
            assertThat(keys.slotCount()).isLessThanOrEqualTo(256);
        }
    }

    @Test
    void onlyRangesWithinTheMemoryAreContained() {
        try (TestNetwork network = new TestNetwork();
                CEnd end = new CEnd(network.addHost("10.0.0.1"))) {
            LocalMemory memory = Objects.requireNonNull(
                    Handles.of(end.domain, Domain.class).keys().find(end.localKey));
            long start = end.memory.address();
            assertThat(memory.contains(start, CEnd.MEMORY_BYTES)).isTrue();
            assertThat(memory.contains(start + CEnd.MEMORY_BYTES, 0)).isTrue();
            assertThat(memory.contains(start - 1, 1)).isFalse();
            assertThat(memory.contains(start + 1, CEnd.MEMORY_BYTES)).isFalse();
            assertThat(memory.contains(Long.MIN_VALUE, 1)).isFalse();
            assertThat(memory.contains(-1, 2)).isFalse();
            assertThat(memory.contains(start, 1L << 32)).isFalse();
        }
    }
}
