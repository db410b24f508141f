package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests rings whose slots are filled on first use. */
final class LazyRingTest {
    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "2, 2", "3, 4", "4, 4", "5, 8", "1025, 2048"})
    void slotCountIsTheCapacityRoundedUpToAPowerOfTwo(int capacity, int count) {
        assertThat(new LazyRing<String>(capacity).count()).isEqualTo(count);
    }

    @Test
    void slotsAreEmptyUntilFilled() {
        LazyRing<String> ring = new LazyRing<>(4);
        for (long number = 0; number < 8; number++) {
            assertThat(ring.at(number)).isNull();
        }
        ring.put(2, "two");
        assertThat(ring.at(1)).isNull();
        assertThat(ring.at(2)).isEqualTo("two");
        ring.put(2, null);
        assertThat(ring.at(2)).isNull();
    }

    @Test
    void numbersThatDifferByTheCountShareASlot() {
        LazyRing<String> ring = new LazyRing<>(4);
        long far = (1L << 32) - 3;
        ring.put(far, "one");
        assertThat(ring.at(1)).isEqualTo("one");
        assertThat(ring.at(far + 4)).isEqualTo("one");
        assertThat(ring.at(far + 1)).isNull();
    }
}
